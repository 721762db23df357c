//! Tests of strategies: what holds for all of them, what each is for, and how good they are.

mod everywhere;
mod purposes;
mod quality;

use super::Strategy;
use crate::model::ids::{NodeId, PeId};
use crate::model::loads::{Edge, Loads, Measured, Moves, Object};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Those that balance, and look at nothing but what every object has.
const BY_LOAD: [Strategy; 2] = [Strategy::Greedy, Strategy::GreedyRefine { tolerance: 1.02 }];

/// All that balance.
const BALANCING: [Strategy; 6] = [
    BY_LOAD[0],
    BY_LOAD[1],
    Strategy::Hilbert,
    Strategy::Rcb,
    Strategy::Bisect { tolerance: 1.05 },
    Strategy::Diffuse { tolerance: 1.05 },
];

/// Those for tests.
const MOVING: [Strategy; 2] = [Strategy::Rotate, Strategy::Random { seed: Some(1) }];

/// Objects on a square grid, each of which calls its neighbours; `place` says on which PE each is, and `load` what it takes.
fn grid(
    machine: Measured,
    side: u32,
    place: impl Fn(u32, u32) -> u32,
    load: impl Fn(u32, u32) -> f64,
) -> Measured {
    let mut measured = machine;
    for (y, x) in (0..side).flat_map(|y| (0..side).map(move |x| (y, x))) {
        let here = measured.objects.len();
        let position = Some([f64::from(x), f64::from(y), 0.0]);
        measured.objects.push(Object { position, bytes: 1000, ..Object::new(PeId(place(x, y)), load(x, y)) });
        let ahead = [(x + 1 < side, here + 1), (y + 1 < side, here + side as usize)];
        let neighbours = ahead.into_iter().filter(|(is_there, _)| *is_there);
        measured.edges.extend(neighbours.map(|(_, to)| Edge { from: here, to, bytes: 8000, calls: 1 }));
    }
    measured
}

/// The bytes of calls between nodes, and between PEs, with what is planned.
fn traffic(loads: &Loads, moves: &Moves) -> (u64, u64) {
    let (mut nodes, mut pes) = (0, 0);
    for edge in loads.edges() {
        let [from, to] = [edge.from, edge.to].map(|object| moves.place_of(object));
        pes += if from == to { 0 } else { edge.bytes };
        nodes += if loads.node_of(from) == loads.node_of(to) { 0 } else { edge.bytes };
    }
    (nodes, pes)
}

/// Dice of a seed.
fn dice(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A load as that of many programs: most are small, some are large, none is larger than five times the average.
fn exponential(dice: &mut ChaCha8Rng) -> f64 {
    (-(1.0 - dice.random::<f64>()).ln()).min(5.0)
}

/// What arrives at a node, in bytes.
fn arriving(loads: &Loads, moves: &Moves, node: NodeId) -> u64 {
    let arrives = |(object, to): &(usize, PeId)| {
        loads.node_of(*to) == node && loads.node_of(loads.objects()[*object].at) != node
    };
    let planned = moves.planned();
    planned.iter().filter(|one| arrives(one)).map(|(object, _)| loads.objects()[*object].bytes).sum()
}
