//! Graphs of calls: who of a level's items calls whom, and how much.

use super::domain::{ELSEWHERE, Item};
use crate::model::loads::{Edge, Loads};

/// What a call costs beside its bytes, in bytes: between two processes a call takes as long as it takes to copy some KiB, and half of that
/// where many are under way (`benches/README.md`: 333 ns and 45 ns, 40.8 us for 1 MiB).
const CALL_BYTES: f64 = 1024.0;

/// What the calls of an edge cost, in bytes.
pub(super) fn weight(edge: &Edge) -> f64 {
    edge.bytes as f64 + edge.calls as f64 * CALL_BYTES
}

/// A neighbour of a vertex, and how much the two call each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neighbour {
    pub(super) vertex: u32,
    pub(super) weight: f32,
}

/// Vertices and their neighbours; each edge stands at both of its ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    /// Where the neighbours of each vertex begin, and where those of the last one end.
    starts: Vec<usize>,
    neighbours: Vec<Neighbour>,
    /// The domains of the vertices that follow those of the items: of objects that do not move.
    pinned: Vec<u32>,
}

/// All objects and who calls whom.
pub(super) struct Calls(Graph);

impl Calls {
    /// Those of these loads. Linear in objects and edges.
    pub(super) fn new(loads: &Loads) -> Self {
        let edges = loads.edges().iter().map(|edge| (edge.from as u32, edge.to as u32, weight(edge) as f32));
        Self(Graph::new(loads.objects().len(), edges))
    }
}

impl Graph {
    /// The graph of these edges, each of which is given once.
    pub(super) fn new(vertices: usize, edges: impl Iterator<Item = (u32, u32, f32)> + Clone) -> Self {
        let mut starts = vec![0_usize; vertices + 1];
        for (one, other, _) in edges.clone() {
            starts[one as usize + 1] += 1;
            starts[other as usize + 1] += 1;
        }
        (0..vertices).for_each(|vertex| starts[vertex + 1] += starts[vertex]);
        let mut next = starts.clone();
        let mut neighbours = vec![Neighbour { vertex: 0, weight: 0.0 }; starts[vertices]];
        for (one, other, weight) in edges {
            for (vertex, other) in [(one, other), (other, one)] {
                let next = &mut next[vertex as usize];
                neighbours[*next] = Neighbour { vertex: other, weight };
                *next += 1;
            }
        }
        Self { starts, neighbours, pinned: Vec::new() }
    }

    /// A graph whose vertices and neighbours are given one after another.
    pub(super) fn from_parts(starts: Vec<usize>, neighbours: Vec<Neighbour>, pinned: Vec<u32>) -> Self {
        Self { starts, neighbours, pinned }
    }

    /// The part of all calls that is between items of a level, and between them and what is pinned to its domains. `vertices` is room for
    /// the vertex of each object, and holds none before and after.
    pub(super) fn of_level(
        calls: &Calls,
        items: &[Item],
        pinned: &[(u32, u32)],
        vertices: &mut [u32],
    ) -> Self {
        let Calls(all) = calls;
        let objects = || items.iter().map(|item| item.object).chain(pinned.iter().map(|(object, _)| *object));
        objects().enumerate().for_each(|(vertex, object)| vertices[object as usize] = vertex as u32);
        let mut graph = Self {
            starts: vec![0],
            pinned: pinned.iter().map(|(_, domain)| *domain).collect(),
            ..Self::default()
        };
        for object in objects() {
            let here = all.around(object).iter().filter_map(|neighbour| {
                let vertex = vertices[neighbour.vertex as usize];
                (vertex != ELSEWHERE).then_some(Neighbour { vertex, ..*neighbour })
            });
            graph.neighbours.extend(here);
            graph.starts.push(graph.neighbours.len());
        }
        objects().for_each(|object| vertices[object as usize] = ELSEWHERE);
        graph
    }

    /// Whether nobody calls anyone.
    pub(super) fn is_empty(&self) -> bool {
        self.neighbours.is_empty()
    }

    /// The neighbours of a vertex.
    #[inline]
    pub(super) fn around(&self, vertex: u32) -> &[Neighbour] {
        &self.neighbours[self.starts[vertex as usize]..self.starts[vertex as usize + 1]]
    }

    /// The domains of the vertices that follow those of the items.
    pub(super) fn pinned(&self) -> &[u32] {
        &self.pinned
    }

    /// The same graph with other names of the domains to which vertices are pinned.
    pub(super) fn pinned_anew(&self, name: impl Fn(u32) -> u32) -> Self {
        Self { pinned: self.pinned.iter().map(|domain| name(*domain)).collect(), ..self.clone() }
    }

    /// The domain of each vertex, where `places` are those of the items.
    pub(super) fn with_pinned(&self, places: &[u32]) -> Vec<u32> {
        places.iter().chain(&self.pinned).copied().collect()
    }
}
