//! What plans are worth: balance, moves, and what is called from node to node.

use crate::inputs::Input;
use chare::{Balancer, Loads, PeId};
use chare_benches::Comparison;

/// The objects of these plans: enough to be dealt, few enough to wait for.
const OBJECTS: usize = 250_000;

/// Prints a table of the plans of the balancers that were compared, and of all for a particle-in-cell program.
pub(crate) fn tell(comparisons: &[Comparison]) {
    println!("what the plans are worth, for {OBJECTS} objects");
    println!(
        "{:<24} {:<12} {:>14} {:>8} {:>8} {:>8} {:>14}",
        "balancer", "loads", "max/avg before", "after", "moved", "to nodes", "between nodes"
    );
    for comparison in comparisons {
        if let ["side", "balancer", _, name, input] = comparison.ours {
            row(name, input);
        }
    }
    for name in ["greedy", "greedy_refine", "hilbert", "rcb", "bisect", "diffuse"] {
        row(name, "particles");
    }
}

fn row(name: &str, input: &str) {
    let (Some(loads), Ok(balancer)) = (Input::named(input), Balancer::named(name)) else { return };
    let loads = loads.loads(OBJECTS);
    let moves = balancer.plan(0, &loads);
    let planned = moves.planned();
    let leaves =
        |(object, to): &&(usize, PeId)| loads.node_of(loads.objects()[*object].at) != loads.node_of(*to);
    let part = |count: usize| 100.0 * count as f64 / loads.objects().len() as f64;
    println!(
        "{name:<24} {input:<12} {:>14.2} {:>8.3} {:>6.1} % {:>6.1} % {:>14}",
        loads.imbalance(),
        moves.imbalance(),
        part(planned.len()),
        part(planned.iter().filter(leaves).count()),
        between(&loads, |object| moves.place_of(object)),
    );
}

/// The part of all bytes that goes from node to node.
fn between(loads: &Loads, place: impl Fn(usize) -> PeId) -> String {
    let all: u64 = loads.edges().iter().map(|edge| edge.bytes).sum();
    if all == 0 {
        return "-".to_owned();
    }
    let node = |object: usize| loads.node_of(place(object));
    let across = loads.edges().iter().filter(|edge| node(edge.from) != node(edge.to));
    format!("{:.1} %", 100.0 * across.map(|edge| edge.bytes).sum::<u64>() as f64 / all as f64)
}
