//! Loads that are out of balance, of a hundred thousand PEs or of a few.

use chare::{Edge, Loads, Measured, Object, PeId};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// What is balanced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Input {
    /// Ten objects on each of 100,000 PEs as chance has it, and five times as many on one of a hundred; the PEs in one node.
    Together,
    /// The same in nodes of 64 PEs.
    Nodes,
    /// The same in nodes of one PE.
    Apart,
    /// Blocks of a cube that call their neighbours, dealt in rows to nodes of 64 PEs; in a part of the space there is more to do.
    Grid,
    /// A particle-in-cell program on 8 nodes: blocks dealt in boxes; particles are many on one side, and fewer the farther from it.
    Particles,
}

impl Input {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "together" => Self::Together,
            "nodes" => Self::Nodes,
            "apart" => Self::Apart,
            "grid" => Self::Grid,
            "particles" => Self::Particles,
            _ => return None,
        })
    }

    /// About so many objects.
    pub(crate) fn loads(self, objects: usize) -> Loads {
        let pes = (objects / 10) as u32;
        let side = (objects as f64).cbrt().round() as u32;
        let measured = match self {
            Self::Together => crowded(Measured::new(1, pes), objects),
            Self::Nodes => crowded(Measured::new(pes / 64 + 1, 64), objects),
            Self::Apart => crowded(Measured::new(pes, 1), objects),
            Self::Grid => {
                let machine = Measured::new(pes / 64 + 1, 64);
                let pes = machine.speeds.len() as u64;
                let in_rows = |[x, y, z]: [u32; 3]| {
                    let number = u64::from(x + side * (y + side * z));
                    (number * pes / u64::from(side).pow(3)) as u32
                };
                let distance = |at: [f64; 3]| at.map(|along| (along - 0.4).powi(2)).iter().sum::<f64>();
                grid(machine, side, in_rows, |at| 1.0 + 6.0 * (-distance(at) / 0.05).exp())
            }
            Self::Particles => {
                let half = side.div_ceil(2);
                let in_boxes = |[x, y, z]: [u32; 3]| {
                    let node = x / half + 2 * (y / half) + 4 * (z / half);
                    16 * node + z % half * 16 / half
                };
                grid(Measured::new(8, 16), side, in_boxes, |[x, ..]| 0.2 + 8.0 * (-3.0 * x).exp())
            }
        };
        measured.build().expect("measurements that can be")
    }
}

fn crowded(mut measured: Measured, objects: usize) -> Measured {
    let (mut dice, pes) = (ChaCha8Rng::seed_from_u64(1), measured.speeds.len() as u32);
    measured.objects.reserve(objects);
    for _ in 0..objects {
        let at = dice.random_range(0..pes);
        let at = if dice.random_bool(0.04) { at / 1000 * 1000 + at % 10 } else { at };
        let load = (-(1.0 - dice.random::<f64>()).ln()).min(3.0);
        let bytes = dice.random_range(1000..20_000);
        measured.objects.push(Object { bytes, ..Object::new(PeId(at), load) });
    }
    measured
}

/// Blocks of a cube, each of which calls its six neighbours; `load` takes coordinates from 0 to 1.
fn grid(
    mut measured: Measured,
    side: u32,
    place: impl Fn([u32; 3]) -> u32,
    load: impl Fn([f64; 3]) -> f64,
) -> Measured {
    for number in 0..side.pow(3) {
        let at = [number % side, number / side % side, number / side / side];
        let load = load(at.map(|along| f64::from(along) / f64::from(side)));
        let position = Some(at.map(f64::from));
        measured.objects.push(Object { position, bytes: 100_000, ..Object::new(PeId(place(at)), load) });
        for (_, step) in at.into_iter().zip([1, side, side * side]).filter(|(along, _)| along + 1 < side) {
            let (one, other) = (number as usize, (number + step) as usize);
            measured.edges.push(Edge { from: one, to: other, bytes: 8000, calls: 1 });
            measured.edges.push(Edge { from: other, to: one, bytes: 8000, calls: 1 });
        }
    }
    measured
}
