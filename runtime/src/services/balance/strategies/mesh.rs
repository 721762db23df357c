//! Meshes: items and who calls whom, and coarser ones in which pairs that call each other much are one.

use super::domain::{ELSEWHERE, Item};
use super::graph::{Graph, Neighbour};
use super::grouped::Grouped;
use std::ops::Range;

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

    /// The meshes of the items of each group, with what is pinned to the group's domains; its first domain has the number 0 there. Also
    /// returns the item that each of theirs was.
    pub(super) fn apart(&self, group_of: &[u32], groups: &[Range<u32>]) -> Vec<(Self, Vec<u32>)> {
        let count = self.items.len() as u32;
        let group_of_domain = |domain: &u32| groups.partition_point(|group| group.end <= *domain) as u32;
        let pinned = self.graph.pinned().iter();
        let group_of: Vec<u32> = group_of.iter().copied().chain(pinned.map(group_of_domain)).collect();
        let grouped = Grouped::new(&group_of, groups.len() as u32);
        let mut numbers = vec![0; group_of.len()];
        for group in 0..groups.len() as u32 {
            grouped.of(group).iter().zip(0..).for_each(|(vertex, number)| numbers[*vertex as usize] = number);
        }
        let mesh = |(group, domains): (u32, &Range<u32>)| {
            // Items come first, as their numbers are less.
            let (items, pinned) =
                grouped.of(group).split_at(grouped.of(group).partition_point(|vertex| *vertex < count));
            let (mut starts, mut neighbours) = (vec![0], Vec::new());
            for vertex in grouped.of(group) {
                let mine = self
                    .graph
                    .around(*vertex)
                    .iter()
                    .filter(|other| group_of[other.vertex as usize] == group);
                neighbours
                    .extend(mine.map(|other| Neighbour { vertex: numbers[other.vertex as usize], ..*other }));
                starts.push(neighbours.len());
            }
            let pinned =
                pinned.iter().map(|vertex| self.graph.pinned()[(vertex - count) as usize] - domains.start);
            let graph = Graph::from_parts(starts, neighbours, pinned.collect());
            (
                Self { items: items.iter().map(|item| self.items[*item as usize]).collect(), graph },
                items.to_vec(),
            )
        };
        (0..).zip(groups).map(mesh).collect()
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
