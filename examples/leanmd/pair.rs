//! A pair of neighbouring cells as a chare: it has no data of its own, receives the positions of both cells' atoms, and answers
//! with the forces between them.

use crate::physics::{PairPlace, Place, Space, Vector, fixed};
use chare::prelude::*;
use serde::{Deserialize, Serialize};

/// The receiver of a cell's forces.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Client {
    pub(crate) cell: Place,
    /// The pairs that the cell belongs to.
    pub(crate) pairs: PairSectionProxy,
    pub(crate) forces: Callback<Vec<i64>>,
}

/// A message of a cell.
struct Half {
    client: Client,
    positions: Received<Vector>,
}

pub(crate) struct Pair {
    space: Space,
    /// The half that came first. Its cell says nothing more before it has its forces.
    waiting: Option<Half>,
}

#[chare(array, index = PairPlace)]
impl Pair {
    #[entry]
    pub(crate) fn new(space: Space) -> Self {
        Self { space, waiting: None }
    }

    /// The positions of a cell's atoms.
    #[entry]
    pub(crate) fn meet(&mut self, client: Client, #[nocopy] positions: Received<Vector>) {
        let half = Half { client, positions };
        let (x, y, z, other_x, other_y, other_z) = self.this_index();
        if (x, y, z) == (other_x, other_y, other_z) {
            self.answer_one(&half);
            return;
        }
        match self.waiting.take() {
            None => self.waiting = Some(half),
            // Always in this order, so that rounding is always the same.
            Some(other) if other.client.cell < half.client.cell => self.answer_both(&other, &half),
            Some(other) => self.answer_both(&half, &other),
        }
    }

    fn answer_one(&self, half: &Half) {
        let mut forces = Forces::new(half.positions.len());
        for (second, at_second) in half.positions.iter().enumerate() {
            for (first, at_first) in half.positions[..second].iter().enumerate() {
                if let Some((force, potential)) = self.space.force(*at_first, *at_second) {
                    forces.add(first, force);
                    forces.add(second, force.map(|component| -component));
                    forces.add_potential(potential);
                }
            }
        }
        self.send(half, forces);
    }

    fn answer_both(&self, one: &Half, other: &Half) {
        let (mut on_one, mut on_other) =
            (Forces::new(one.positions.len()), Forces::new(other.positions.len()));
        for (first, at_first) in one.positions.iter().enumerate() {
            for (second, at_second) in other.positions.iter().enumerate() {
                if let Some((force, potential)) = self.space.force(*at_first, *at_second) {
                    on_one.add(first, force);
                    on_other.add(second, force.map(|component| -component));
                    // One of the two accounts for it.
                    on_one.add_potential(potential);
                }
            }
        }
        self.send(one, on_one);
        self.send(other, on_other);
    }

    fn send(&self, half: &Half, forces: Forces) {
        self.contribute_to(&half.client.pairs, sum(forces.0), half.client.forces);
    }
}

/// The forces on a cell's atoms in fixed point, three components of each, and behind them the potential.
struct Forces(Vec<i64>);

impl Forces {
    fn new(atoms: usize) -> Self {
        Self(vec![0; atoms * 3 + 1])
    }

    fn add(&mut self, atom: usize, force: Vector) {
        self.0[atom * 3..].iter_mut().zip(force).for_each(|(sum, component)| *sum += fixed(component));
    }

    fn add_potential(&mut self, potential: f64) {
        *self.0.last_mut().expect("it is always there") += fixed(potential);
    }
}
