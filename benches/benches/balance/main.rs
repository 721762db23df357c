//! Balancers: what it costs to plan moves of a million objects on a hundred thousand PEs, and what the plans are worth.
//!
//! The table shows nanoseconds per object, so 140 are 0.14 s in all. The peer of those that look at loads sorts the objects and takes PEs off a
//! heap, one by one, which is the least that a good balance of all takes; that of those that look at calls looks once at both ends of each call.
//! What the plans are worth is no matter of time, and is printed once below.

mod inputs;
mod peers;
mod worth;

use chare::Balancer;
use chare_benches::{Batches, Benchmark, Comparison, Side};
use inputs::Input;
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
        ("heap", [_]) => peers::heap(batches, &loads),
        ("calls", [_]) => peers::calls(batches, &loads),
        _ => return None,
    }
    Some(ExitCode::SUCCESS)
}
