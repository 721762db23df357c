//! Meshes: items and who calls whom, and coarser ones in which pairs that call each other much are one.

use super::domain::{ELSEWHERE, Item};
use super::graph::{Graph, Neighbour};

/// Items and their graph, in which what is pinned to domains follows the items.
#[derive(Clone, Debug)]
pub(super) struct Mesh {
    pub(super) items: Vec<Item>,
    pub(super) graph: Graph,
}

impl Mesh {
    /// A coarser mesh: items are united in pairs, each with the one that it calls most, as long as a pair does not weigh more than
    /// `load_max`. Returns it with the coarse item of each item.
    pub(super) fn coarser(&self, load_max: f64) -> (Self, Vec<u32>) {
        let (coarse_of, pairs) = self.pair(load_max);
        let mut graph = Contraction::new(pairs.len() + self.graph.pinned().len());
        let coarse = |vertex: u32| match coarse_of.get(vertex as usize) {
            Some(coarse) => *coarse,
            None => vertex - self.items.len() as u32 + pairs.len() as u32,
        };
        let mut items = Vec::with_capacity(pairs.len());
        for pair in &pairs {
            let members = || pair.iter().filter(|member| **member != ELSEWHERE);
            let load = members().map(|member| self.items[*member as usize].load).sum();
            items.push(Item { object: ELSEWHERE, at: ELSEWHERE, load, bytes: 0 });
            graph.add(members().flat_map(|member| self.graph.around(*member)), coarse);
        }
        for pinned in 0..self.graph.pinned().len() as u32 {
            graph.add(self.graph.around(self.items.len() as u32 + pinned).iter(), coarse);
        }
        let graph = Graph::from_parts(graph.starts, graph.neighbours, self.graph.pinned().to_vec());
        (Self { items, graph }, coarse_of)
    }

    /// The coarse item of each item, and the one or two that each coarse item is made of.
    fn pair(&self, load_max: f64) -> (Vec<u32>, Vec<[u32; 2]>) {
        let count = self.items.len();
        let (mut coarse_of, mut pairs) = (vec![ELSEWHERE; count], Vec::with_capacity(count / 2));
        for vertex in 0..count as u32 {
            if coarse_of[vertex as usize] != ELSEWHERE {
                continue;
            }
            let spare = load_max - self.items[vertex as usize].load;
            let is_free = |neighbour: &&Neighbour| {
                let other = neighbour.vertex as usize;
                other < count
                    && neighbour.vertex != vertex
                    && coarse_of[other] == ELSEWHERE
                    && self.items[other].load <= spare
            };
            let free = self.graph.around(vertex).iter().filter(is_free);
            let mate = free
                .max_by(|one, other| one.weight.total_cmp(&other.weight))
                .map_or(ELSEWHERE, |mate| mate.vertex);
            for member in [vertex, mate].into_iter().filter(|member| *member != ELSEWHERE) {
                coarse_of[member as usize] = pairs.len() as u32;
            }
            pairs.push([vertex, mate]);
        }
        (coarse_of, pairs)
    }

    /// Two meshes: of the items on either side, each with what is pinned there, by the domain's number from the first domain of the side on. Also
    /// returns the item that each of theirs was.
    pub(super) fn apart(&self, is_left: &[bool], domains_left: u32) -> [(Self, Vec<u32>); 2] {
        let count = self.items.len();
        let is_pinned_left = |pinned: &&u32| **pinned < domains_left;
        let sides =
            is_left.iter().copied().chain(self.graph.pinned().iter().map(|domain| is_pinned_left(&domain)));
        let sides: Vec<bool> = sides.collect();
        let mut numbers = vec![0; sides.len()];
        let mut next = [0, 0];
        for (number, side) in numbers.iter_mut().zip(&sides) {
            *number = next[usize::from(*side)];
            next[usize::from(*side)] += 1;
        }
        [true, false].map(|side| {
            let vertices = || (0..sides.len() as u32).filter(|vertex| sides[*vertex as usize] == side);
            let (mut starts, mut neighbours) = (vec![0], Vec::new());
            for vertex in vertices() {
                let mine =
                    self.graph.around(vertex).iter().filter(|other| sides[other.vertex as usize] == side);
                neighbours
                    .extend(mine.map(|other| Neighbour { vertex: numbers[other.vertex as usize], ..*other }));
                starts.push(neighbours.len());
            }
            let items: Vec<u32> = vertices().filter(|vertex| (*vertex as usize) < count).collect();
            let first = if side { 0 } else { domains_left };
            let pinned = self.graph.pinned().iter().filter(|domain| is_pinned_left(domain) == side);
            let graph = Graph::from_parts(starts, neighbours, pinned.map(|domain| domain - first).collect());
            (Self { items: items.iter().map(|item| self.items[*item as usize]).collect(), graph }, items)
        })
    }
}

/// A graph that is made vertex by vertex, each of many.
struct Contraction {
    starts: Vec<usize>,
    neighbours: Vec<Neighbour>,
    /// Where each vertex stands among the neighbours of the latest one, if not before `starts` ends.
    seats: Vec<usize>,
}

impl Contraction {
    fn new(vertices: usize) -> Self {
        Self { starts: vec![0], neighbours: Vec::new(), seats: vec![usize::MAX; vertices] }
    }

    /// Adds the next vertex, which has the neighbours of all that it is made of.
    fn add<'a>(&mut self, neighbours: impl Iterator<Item = &'a Neighbour>, coarse: impl Fn(u32) -> u32) {
        let (this, first) = ((self.starts.len() - 1) as u32, self.neighbours.len());
        for neighbour in neighbours {
            let vertex = coarse(neighbour.vertex);
            let seat = self.seats[vertex as usize];
            if vertex == this {
                continue;
            }
            if (first..self.neighbours.len()).contains(&seat) {
                self.neighbours[seat].weight += neighbour.weight;
            } else {
                self.seats[vertex as usize] = self.neighbours.len();
                self.neighbours.push(Neighbour { vertex, ..*neighbour });
            }
        }
        self.starts.push(self.neighbours.len());
    }
}
