//! Balancers: what it costs to plan moves of a million objects on a hundred thousand PEs, and what the plans are worth.
//!
//! The table shows nanoseconds per object, so 140 are 0.14 s in all. The peer of those that look at loads sorts the objects and takes PEs off a
//! heap, one by one, which is the least that a good balance of all takes; that of those that look at calls looks once at both ends of each call.
//! What the plans are worth is no matter of time, and is printed once below.

mod inputs;
mod worth;

use chare::{Balancer, Loads};
use chare_benches::{Batches, Benchmark, Comparison, Side};
use inputs::Input;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

/// Plans of one run of a side.
const BATCHES: u32 = 3;

const GREEDY_TOGETHER: Side = &["side", "balancer", "1000000", "greedy", "together"];
const GREEDY_IN_NODES: Side = &["side", "balancer", "1000000", "greedy", "nodes"];
const GREEDY_APART: Side = &["side", "balancer", "1000000", "greedy", "apart"];
const REFINE_TOGETHER: Side = &["side", "balancer", "1000000", "greedy_refine", "together"];
const REFINE_IN_NODES: Side = &["side", "balancer", "1000000", "greedy_refine", "nodes"];
const REFINE_APART: Side = &["side", "balancer", "1000000", "greedy_refine", "apart"];
const HILBERT: Side = &["side", "balancer", "1000000", "hilbert", "grid"];
const RCB: Side = &["side", "balancer", "1000000", "rcb", "grid"];
const BISECT: Side = &["side", "balancer", "1000000", "bisect", "grid"];
const DIFFUSE: Side = &["side", "balancer", "1000000", "diffuse", "grid"];
const HEAP: Side = &["side", "heap", "1000000", "together"];
const HEAP_GRID: Side = &["side", "heap", "1000000", "grid"];
const CALLS: Side = &["side", "calls", "1000000", "grid"];

const BY_HEAP: &str = "a sort and a heap";
const BY_CALLS: &str = "a look at each call";

const COMPARISONS: &[Comparison] = &[
    Comparison { name: "greedy, one node", ours: GREEDY_TOGETHER, against: BY_HEAP, peer: HEAP },
    Comparison { name: "greedy, nodes of 64 PEs", ours: GREEDY_IN_NODES, against: BY_HEAP, peer: HEAP },
    Comparison { name: "greedy, nodes of one PE", ours: GREEDY_APART, against: BY_HEAP, peer: HEAP },
    Comparison { name: "greedy_refine, one node", ours: REFINE_TOGETHER, against: BY_HEAP, peer: HEAP },
    Comparison {
        name: "greedy_refine, nodes of 64 PEs",
        ours: REFINE_IN_NODES,
        against: BY_HEAP,
        peer: HEAP,
    },
    Comparison { name: "greedy_refine, nodes of one PE", ours: REFINE_APART, against: BY_HEAP, peer: HEAP },
    Comparison { name: "hilbert, nodes of 64 PEs", ours: HILBERT, against: BY_HEAP, peer: HEAP_GRID },
    Comparison { name: "rcb, nodes of 64 PEs", ours: RCB, against: BY_HEAP, peer: HEAP_GRID },
    Comparison { name: "bisect, nodes of 64 PEs", ours: BISECT, against: BY_CALLS, peer: CALLS },
    Comparison { name: "diffuse, nodes of 64 PEs", ours: DIFFUSE, against: BY_CALLS, peer: CALLS },
];

fn main() -> ExitCode {
    Benchmark::new("What it costs to plan who moves where", COMPARISONS)
        .concluding(|comparisons, _| worth::tell(comparisons))
        .run(play)
}

/// Measures as one side; `number` is how many objects there are.
fn play(side: &str, number: u64, rest: &[String]) -> Option<ExitCode> {
    let batches = Batches { operations: number, count: BATCHES };
    let loads = Input::named(rest.last()?)?.loads(number as usize);
    match (side, rest) {
        ("balancer", [name, _]) => {
            let balancer = Balancer::named(name).ok()?;
            batches.run(|_| {
                let begin = Instant::now();
                let moves = balancer.plan(0, &loads);
                let taken = begin.elapsed();
                assert!(moves.max() < loads.max(), "it is worth it");
                taken
            });
        }
        ("heap", [_]) => heap(batches, &loads),
        ("calls", [_]) => calls(batches, &loads),
        _ => return None,
    }
    Some(ExitCode::SUCCESS)
}

/// Sorts the objects by load, and puts each on the PE that a heap says has the least.
fn heap(batches: Batches, loads: &Loads) {
    let objects: Vec<f64> = loads.objects().iter().map(|object| object.load).collect();
    batches.run(|_| {
        let begin = Instant::now();
        // Numbers that are not negative are in the order of their bits.
        let mut order: Vec<(u64, u32)> = objects.iter().map(|load| !load.to_bits()).zip(0..).collect();
        order.sort_unstable();
        let mut pes: BinaryHeap<Reverse<(u64, u32)>> = (0..loads.pes()).map(|pe| Reverse((0, pe))).collect();
        let mut places = vec![0; objects.len()];
        for (load, number) in order {
            let Some(mut lightest) = pes.peek_mut() else { break };
            let Reverse((work, pe)) = *lightest;
            places[number as usize] = pe;
            *lightest = Reverse(((f64::from_bits(work) + f64::from_bits(!load)).to_bits(), pe));
        }
        black_box(places);
        begin.elapsed()
    });
}

/// Looks at both ends of each call, and sums up what leads from node to node.
fn calls(batches: Batches, loads: &Loads) {
    batches.run(|_| {
        let begin = Instant::now();
        let node = |object: usize| loads.node_of(loads.objects()[object].at);
        let across = loads.edges().iter().filter(|edge| node(edge.from) != node(edge.to));
        black_box(across.map(|edge| edge.bytes).sum::<u64>());
        begin.elapsed()
    });
}
