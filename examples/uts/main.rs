//! How does a program balance work that nobody can foresee? It counts all nodes of a tree whose shape shows only on the way
//! (Unbalanced Tree Search). A PE with nodes to look at looks at some, keeps half of the rest and sends the other half to any
//! PE.
//!
//! ```text
//! cargo run --release --example uts -- --grain 500 +n 2 +p 2
//! ```
//! Without options it is the benchmark's tree T3: 4,112,897 nodes, 3,599,034 leaves, 1,572 levels. The answer is compared with a search
//! that one PE makes alone.

mod tree;

use chare::prelude::*;
use clap::Parser;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::process::ExitCode;
use tree::{Count, Node, Shape};

/// Counts the nodes of an unbalanced tree.
#[derive(Parser)]
#[command(name = "uts", no_binary_name = true)]
struct Options {
    /// Which tree of its kind
    #[arg(long, default_value_t = 42)]
    seed: u32,
    /// Children of the root
    #[arg(long, default_value_t = 2000)]
    root: u32,
    /// Children of any other node that has some
    #[arg(long, default_value_t = 8)]
    children: u32,
    /// How likely a node has some; with as many as one child on average a tree might have no end
    #[arg(long, default_value_t = 0.124_875)]
    probability: f64,
    /// Nodes to look at in one go
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    grain: u32,
}

struct Searcher {
    count: Count,
    grain: u32,
    random: SmallRng,
}

#[chare(group)]
impl Searcher {
    #[entry]
    fn new(grain: u32) -> Self {
        Self { count: Count::default(), grain, random: SmallRng::seed_from_u64(chare::my_pe().0.into()) }
    }

    /// Looks at nodes and what hangs below them, the deepest first.
    #[entry]
    fn search(&mut self, mut nodes: Vec<Node>) {
        let shape = chare::readonly::<Shape>();
        let looked_at = (0..self.grain).take_while(|_| self.count.step(&mut nodes, &shape)).count();
        if looked_at < self.grain as usize || nodes.is_empty() {
            return;
        }
        let all = self.this_collection();
        let given_away = nodes.split_off(nodes.len() / 2);
        all.on(PeId(self.random.random_range(0..chare::pes()))).search(given_away);
        if !nodes.is_empty() {
            all.on(chare::my_pe()).search(nodes);
        }
    }

    #[entry]
    fn report(&mut self, done: Callback<(u64, u64, u32)>) {
        let Count { nodes, leaves, depth } = self.count;
        self.contribute(tuple((sum(nodes), sum(leaves), max(depth))), done);
    }
}

/// The right answer.
fn search_alone(shape: &Shape) -> Count {
    let (mut count, mut nodes) = (Count::default(), vec![Node::root(shape)]);
    while count.step(&mut nodes, shape) {}
    count
}

async fn run(options: Options) -> bool {
    let Options { seed, root, children, probability, grain } = options;
    if probability * f64::from(children) >= 1.0 {
        eprintln!("error: a node would have one child or more on average: lower --probability or --children");
        return false;
    }
    let shape = Shape { seed, root, children, probability };
    chare::set_readonly(shape.clone());
    let searchers = SearcherProxy::create(grain);
    let start = chare::now();
    searchers.on(PeId(0)).search(vec![Node::root(&shape)]);
    // Nobody knows where the last node is: it is over when nothing moves any more.
    chare::quiescence().await;
    let seconds = (chare::now() - start).as_secs_f64();
    let (total, done) = chare::future();
    searchers.report(done);
    let (nodes, leaves, depth) = total.await;
    println!(
        "{nodes} nodes, {leaves} leaves, depth {depth}: {:.2} million nodes a second on {} PEs",
        nodes as f64 / seconds / 1e6,
        chare::pes()
    );
    let expected = search_alone(&shape);
    println!("expected: {expected:?}");
    Count { nodes, leaves, depth } == expected
}

fn main() -> ExitCode {
    chare_examples::start::check(run)
}
