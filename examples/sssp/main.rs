//! How does a program send a tiny message along every edge of a graph? Shortest paths from one vertex to all others: whenever a vertex is found to be
//! nearer than it was thought, its neighbours hear of it. Such calls are aggregated, many travel in one message.
//!
//! ```text
//! cargo run --release --example sssp -- --vertices 1000000 +n 2 +p 2
//! ```
//! Nothing waits for anything: a distance may be corrected many times. It is final when nothing moves any more, which quiescence detection finds out. The
//! order in which a block looks at its vertices, nearest first, keeps corrections few. The answer is compared with that of Dijkstra's algorithm.

mod graph;

use chare::prelude::*;
use clap::Parser;
use graph::{Graph, UNREACHED};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::process::ExitCode;

/// Finds the shortest paths from one vertex of a random graph to all others.
#[derive(Parser)]
#[command(name = "sssp", no_binary_name = true)]
struct Options {
    #[command(flatten)]
    graph: Graph,
    /// Blocks of vertices [default: 4 for each PE]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    blocks: Option<u64>,
}

/// Vertices that a block looks at in one go, before it takes the news that have come.
const BATCH: usize = 64;

/// Some consecutive vertices.
struct Block {
    graph: Graph,
    /// Vertices of each block; the last ones have fewer.
    length: u64,
    first: u64,
    distances: Vec<u64>,
    /// Vertices whose neighbours have not heard of their distance yet, nearest first.
    news: BinaryHeap<Reverse<(u64, u64)>>,
    corrections: u64,
}

#[chare(array)]
impl Block {
    #[entry]
    fn new(graph: Graph, length: u64) -> Self {
        let first = chare::this_index::<u64>().saturating_mul(length).min(graph.vertices);
        let distances = vec![UNREACHED; length.min(graph.vertices - first) as usize];
        Self { graph, length, first, distances, news: BinaryHeap::new(), corrections: 0 }
    }

    /// A vertex is no farther than this.
    #[entry(aggregate(dimensions = 2))]
    fn hear(&mut self, vertex: u64, distance: u64) {
        let known = &mut self.distances[(vertex - self.first) as usize];
        if distance < *known {
            *known = distance;
            self.corrections += 1;
            if self.news.is_empty() {
                self.this_chare().spread();
            }
            self.news.push(Reverse((distance, vertex)));
        }
    }

    /// Tells the neighbours of the nearest vertices.
    #[entry]
    fn spread(&mut self) {
        let blocks = self.this_collection();
        for _ in 0..BATCH {
            let Some(Reverse((distance, vertex))) = self.news.pop() else { return };
            // Later news of the same vertex were better.
            if distance > self.distances[(vertex - self.first) as usize] {
                continue;
            }
            for (target, length) in self.graph.edges(vertex) {
                blocks.at(target / self.length).hear(target, distance + length);
            }
        }
        if !self.news.is_empty() {
            self.this_chare().spread();
        }
    }

    #[entry]
    fn report(&mut self, done: Callback<(Vec<u64>, u64)>) {
        // In the order of the blocks.
        let distances = concat(self.distances.clone());
        self.contribute(tuple((distances, sum(self.corrections))), done);
    }
}

async fn run(Options { graph, blocks }: Options) -> bool {
    let blocks = blocks.unwrap_or(4 * u64::from(chare::pes()));
    let array = BlockProxy::create(blocks, graph, graph.vertices.div_ceil(blocks));
    chare::quiescence().await;
    let start = chare::now();
    array.at(0).hear(0, 0);
    chare::quiescence().await;
    let seconds = (chare::now() - start).as_secs_f64();
    let (report, done) = chare::future();
    array.report(done);
    let (distances, corrections) = report.await;
    let reached = distances.iter().filter(|distance| **distance != UNREACHED);
    let (count, farthest) = (reached.clone().count() as u64, reached.max().copied().unwrap_or_default());
    println!(
        "{count} of {} vertices reached, the farthest at {farthest}; each was corrected {:.2} times; {:.2} million edges a second",
        graph.vertices,
        corrections as f64 / count as f64,
        (count * graph.degree) as f64 / seconds / 1e6
    );
    let is_right = distances == graph.distances();
    println!("every distance is {}as Dijkstra's algorithm finds it", if is_right { "" } else { "NOT " });
    is_right
}

fn main() -> ExitCode {
    chare_examples::start::check(run)
}
