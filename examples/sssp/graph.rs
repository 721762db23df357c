//! A random graph that is computed and never stored: the edges of a vertex follow from its number and the seed, on every PE
//! alike.

use clap::Args;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The distance of a vertex that cannot be reached.
pub(crate) const UNREACHED: u64 = u64::MAX;

/// The graph.
#[derive(Args, Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Graph {
    /// Vertices
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    pub(crate) vertices: u64,
    /// Edges that leave each vertex
    #[arg(long, default_value_t = 8)]
    pub(crate) degree: u64,
    /// The largest length of an edge; the smallest is 1
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    weight: u64,
    /// Which of many such graphs
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Graph {
    /// Where the edges of a vertex lead, and how long they are.
    pub(crate) fn edges(self, vertex: u64) -> impl Iterator<Item = (u64, u64)> {
        let mut dice = SmallRng::seed_from_u64(self.seed ^ vertex.rotate_left(32));
        (0..self.degree).map(move |_| {
            let target = dice.random_range(0..self.vertices);
            (target, dice.random_range(1..=self.weight))
        })
    }

    /// How far each vertex is from the first, by Dijkstra's algorithm.
    pub(crate) fn distances(self) -> Vec<u64> {
        let mut distances = vec![UNREACHED; self.vertices as usize];
        distances[0] = 0;
        let mut nearest = BinaryHeap::from([Reverse((0, 0))]);
        while let Some(Reverse((distance, vertex))) = nearest.pop() {
            if distance > distances[vertex as usize] {
                continue;
            }
            for (target, length) in self.edges(vertex) {
                let known = &mut distances[target as usize];
                if distance + length < *known {
                    *known = distance + length;
                    nearest.push(Reverse((*known, target)));
                }
            }
        }
        distances
    }
}
