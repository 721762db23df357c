//! A pair of neighbouring cells as a chare that moves: it has no data of its own, receives the positions of both cells' atoms, and answers
//! with the forces between them. From time to time it comes to a sync before it answers.

use crate::physics::{PairPlace, Place, Space, Vector, fixed};
use chare::ThisInSyncs;
use chare::prelude::*;
use chare_examples::loads;
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
#[derive(Serialize, Deserialize)]
struct Half {
    client: Client,
    positions: Vec<Vector>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Pair {
    space: Space,
    /// Answers between two syncs.
    every: u32,
    /// Answers so far.
    answers: u32,
    /// Those that have come. Their cells say nothing more before they have their forces.
    halves: Vec<Half>,
}

#[chare(array, index = PairPlace, migrate, sync)]
impl Pair {
    #[entry]
    pub(crate) fn new(space: Space, every: u32) -> Self {
        Self { space, every, answers: 0, halves: Vec::new() }
    }

    /// The positions of a cell's atoms. They are copied, for a pair may move before it has those of the other cell.
    #[entry]
    pub(crate) fn meet(&mut self, client: Client, #[nocopy] positions: Received<Vector>) {
        self.halves.push(Half { client, positions: positions.to_vec() });
        let (x, y, z, other_x, other_y, other_z) = self.this_index();
        let is_alone = (x, y, z) == (other_x, other_y, other_z);
        if !is_alone && self.halves.len() < 2 {
            return;
        }
        // Always in this order, so that rounding is always the same.
        self.halves.sort_by_key(|half| half.client.cell);
        if self.answers > 0 && self.answers.is_multiple_of(self.every) {
            self.sync_then(self.this_chare().answer_callback());
        } else {
            self.answer();
        }
    }

    #[entry]
    fn answer(&mut self) {
        loads::note(self.answers / self.every, self.work());
        let halves = std::mem::take(&mut self.halves);
        self.answers += 1;
        match &halves[..] {
            [one, other] => self.answer_both(one, other),
            [half] => self.answer_one(half),
            _ => unreachable!("it has one half or two"),
        }
    }

    #[load]
    fn load(&self) -> f64 {
        self.work() as f64
    }

    #[position]
    fn position(&self) -> [f64; 3] {
        let (x, y, z, ..) = self.this_index();
        [x, y, z].map(f64::from)
    }
}

impl Pair {
    /// Pairs of atoms whose distance is looked at.
    fn work(&self) -> u64 {
        match &self.halves[..] {
            [one, other] => one.positions.len() as u64 * other.positions.len() as u64,
            [half] => (half.positions.len() as u64).pow(2) / 2,
            _ => 0,
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
