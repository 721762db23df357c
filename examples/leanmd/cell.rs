//! A cell as a chare: it owns the atoms in it, and moves them by the forces that its pairs answer.

use crate::pair::{Client, PairProxy, PairSectionProxy};
use crate::physics::{Atom, Place, STEPS_IN_A_CELL, Space, TIME_STEP, Vector, fixed, float};
use chare::prelude::*;
use chare::{bit_xor, tuple};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The contribution of each cell at the end: energies in fixed point, atoms, fingerprint.
pub(crate) type Sums = (Vec<i64>, u64, u64);

/// The result of all steps.
pub(crate) struct Outcome {
    /// Kinetic and potential, at first and after each step.
    pub(crate) energies: Vec<[f64; 2]>,
    pub(crate) atoms: u64,
    /// Of every atom's number, position and velocity.
    pub(crate) fingerprint: u64,
}

impl From<Sums> for Outcome {
    fn from((energies, atoms, fingerprint): Sums) -> Self {
        let energies = energies.as_chunks().0.iter().map(|energies| energies.map(float)).collect();
        Self { energies, atoms, fingerprint }
    }
}

pub(crate) struct Cell {
    space: Space,
    here: Place,
    /// By their numbers, so that rounding does not depend on who came first.
    atoms: Vec<Atom>,
    /// Of its atoms, kinetic and potential in turn, in fixed point.
    energies: Vec<i64>,
}

#[chare(array, index = Place)]
impl Cell {
    #[entry]
    pub(crate) fn new(space: Space) -> Self {
        let here = chare::this_index();
        Self { space, here, atoms: space.atoms(here), energies: Vec::new() }
    }

    /// The forces of all pairs together on this cell's atoms.
    #[entry(awaited)]
    fn forces(forces: Vec<i64>);

    /// Atoms that leave a neighbouring cell for this one.
    #[entry(awaited)]
    fn arrive(#[reference] step: u32, atoms: Vec<Atom>);

    /// The velocity form of Verlet's method: half a kick, a drift, and half a kick by the forces there.
    #[entry]
    pub(crate) async fn run(this: This<Self>, pairs: PairProxy, steps: u32, done: Callback<Sums>) {
        let pairs = pairs.section(this.with(|cell| cell.space.pairs_of(cell.here)));
        let mut forces = Self::feel(&this, &pairs).await;
        this.with(|cell| cell.record(&forces));
        for step in 1..=steps {
            this.with(|cell| {
                cell.kick(&forces);
                cell.drift();
            });
            if step.is_multiple_of(STEPS_IN_A_CELL) {
                Self::exchange(&this, step).await;
            }
            forces = Self::feel(&this, &pairs).await;
            this.with(|cell| {
                cell.kick(&forces);
                cell.record(&forces);
            });
        }
        let (energies, atoms, fingerprint) = this.with(Self::sums);
        this.contribute(tuple((sum(energies), sum(atoms), bit_xor(fingerprint))), done);
    }

    /// Tells the pairs where the atoms are, and waits for the forces.
    async fn feel(this: &This<Self>, pairs: &PairSectionProxy) -> Vec<i64> {
        let client = Client {
            cell: this.this_index(),
            pairs: pairs.clone(),
            forces: this.this_chare().forces_callback(),
        };
        let positions = this.with(|cell| cell.atoms.iter().map(|atom| atom.position).collect::<Vec<_>>());
        pairs.meet(client, positions);
        this.when(Self::forces).await
    }

    /// Hands over the atoms that have left, and takes those that come from each neighbour.
    async fn exchange(this: &This<Self>, step: u32) {
        let leaving = this.with(Self::take_leaving);
        let neighbours = leaving.len();
        for (place, atoms) in leaving {
            this.this_collection().at(place).arrive(step, atoms);
        }
        for _ in 0..neighbours {
            let (_, atoms) = this.when(Self::arrive).reference(step).await;
            this.with(|cell| cell.atoms.extend(atoms));
        }
        this.with(|cell| cell.atoms.sort_by_key(|atom| atom.number));
    }

    /// The atoms that have left, for each of the other cells around: often none.
    fn take_leaving(&mut self) -> BTreeMap<Place, Vec<Atom>> {
        let others = self.space.around(self.here).filter(|place| *place != self.here);
        let mut leaving: BTreeMap<Place, Vec<Atom>> = others.map(|place| (place, Vec::new())).collect();
        for mut atom in std::mem::take(&mut self.atoms) {
            let (place, position) = self.space.locate(self.here, atom.position);
            atom.position = position;
            leaving.get_mut(&place).unwrap_or(&mut self.atoms).push(atom);
        }
        leaving
    }

    fn kick(&mut self, forces: &[i64]) {
        for (atom, force) in self.atoms.iter_mut().zip(forces.as_chunks::<3>().0) {
            add(&mut atom.velocity, force.map(float), TIME_STEP / 2.0);
        }
    }

    fn drift(&mut self) {
        for atom in &mut self.atoms {
            add(&mut atom.position, atom.velocity, TIME_STEP);
        }
    }

    fn record(&mut self, forces: &[i64]) {
        let kinetic = |atom: &Atom| fixed(atom.velocity.iter().map(|along| along * along).sum::<f64>() / 2.0);
        self.energies.push(self.atoms.iter().map(kinetic).sum());
        self.energies.extend(forces.last());
    }

    fn sums(&mut self) -> Sums {
        let fingerprint = |atom: &Atom| {
            let mut hasher = DefaultHasher::new();
            (atom.number, atom.position.map(f64::to_bits), atom.velocity.map(f64::to_bits)).hash(&mut hasher);
            hasher.finish()
        };
        let fingerprint = self.atoms.iter().map(fingerprint).fold(0, std::ops::BitXor::bitxor);
        (std::mem::take(&mut self.energies), self.atoms.len() as u64, fingerprint)
    }
}

fn add(to: &mut Vector, by: Vector, times: f64) {
    to.iter_mut().zip(by).for_each(|(to, by)| *to += by * times);
}
