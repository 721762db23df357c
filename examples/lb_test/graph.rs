//! Who tells whom: rings, meshes, random graphs and pairs of objects, each of which tells those of which it hears. It knows no chares.

use clap::ValueEnum;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Topology {
    /// Each object has one on either side
    Ring,
    /// Each object has one on each of four sides, but at the border
    Mesh2d,
    /// Each object has some that chance has drawn
    Random,
    /// Each object has one, half of all objects away from it
    Pairs,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Graph {
    pub(crate) topology: Topology,
    pub(crate) objects: u64,
    /// Half of whom each object of a random graph tells.
    pub(crate) degree: u64,
}

/// What decides random graphs.
const SEED: u64 = 3;

impl Graph {
    /// Objects along the longer side of a mesh.
    fn columns(self) -> u64 {
        let rows = (1..=self.objects.isqrt()).rev().find(|rows| self.objects.is_multiple_of(*rows));
        self.objects / rows.expect("one row is always possible")
    }

    /// Where an object is drawn.
    pub(crate) fn place(self, object: u64) -> [f64; 2] {
        let columns = if self.topology == Topology::Mesh2d { self.columns() } else { self.objects };
        [object % columns, object / columns].map(|along| along as f64)
    }

    /// The objects that an object tells; it hears of the same. So nobody is ahead of them by more than a step.
    pub(crate) fn told_by(self, object: u64) -> Vec<u64> {
        let objects = self.objects;
        match self.topology {
            Topology::Ring => vec![(object + 1) % objects, (object + objects - 1) % objects],
            Topology::Mesh2d => {
                let columns = self.columns();
                let column = object % columns;
                let sides = [
                    (column > 0).then(|| object - 1),
                    (column + 1 < columns).then_some(object + 1),
                    object.checked_sub(columns),
                    Some(object + columns).filter(|below| *below < objects),
                ];
                sides.into_iter().flatten().collect()
            }
            Topology::Pairs => {
                let (half, is_first) = (objects / 2, object < objects / 2);
                let partner = if is_first { object + half } else { object - half };
                // Of an odd number, the last one has nobody.
                if partner < 2 * half && object < 2 * half { vec![partner] } else { Vec::new() }
            }
            Topology::Random => {
                let mut random = SmallRng::seed_from_u64(SEED);
                let mut draw = || random.random_range(0..objects);
                let both = |far| [(object + far) % objects, (object + objects - far) % objects];
                (0..self.degree).flat_map(|_| both(draw())).collect()
            }
        }
    }
}
