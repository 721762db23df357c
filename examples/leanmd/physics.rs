//! Physics: space, atoms and the force between two of them, in Lennard-Jones units: an atom's mass, its diameter and the depth
//! of its potential are 1. It knows no chares.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

/// A cell, by its place along x, y and z.
pub(crate) type Place = (u32, u32, u32);

/// Two cells that touch, or one and itself: the places of both, the smaller first.
pub(crate) type PairPlace = (u32, u32, u32, u32, u32, u32);

/// A position, a velocity, a force.
pub(crate) type Vector = [f64; 3];

/// The length of a step.
pub(crate) const TIME_STEP: f64 = 0.002;

/// Steps between two in which atoms change cells.
pub(crate) const STEPS_IN_A_CELL: u32 = 10;

/// Farther apart, two atoms do not feel each other.
const CUTOFF: f64 = 2.5;

/// Atoms along a cell's edge at first.
const LATTICE: u32 = 3;

pub(crate) const ATOMS_PER_CELL: u64 = (LATTICE as u64).pow(3);

/// Between two atoms of the lattice; about where their force changes its sign.
const SPACING: f64 = 1.2;

/// A cell's edge.
const EDGE: f64 = SPACING * LATTICE as f64;

/// How far an atom may stray from its cell and still have all that it feels in neighbouring cells.
const MARGIN: f64 = (EDGE - CUTOFF) / 2.0;

/// The largest component of a first velocity.
const SPEED: f64 = 1.2;

/// One, in fixed point. Forces are rounded to 2^-32, far below what a step of double precision makes of them after some hundred.
const ONE: f64 = (1u64 << 32) as f64;

/// A number in fixed point, in which sums do not depend on their order.
///
/// # Panics
/// If it is too large: atoms have come closer than they can.
pub(crate) fn fixed(number: f64) -> i64 {
    assert!(number.abs() < ONE / 256.0, "{number} is no force or energy of a sound simulation");
    (number * ONE).round() as i64
}

/// A number out of fixed point.
pub(crate) fn float(fixed: i64) -> f64 {
    fixed as f64 / ONE
}

/// An atom, under the number of its place in the first lattice.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Atom {
    pub(crate) number: u64,
    pub(crate) position: Vector,
    pub(crate) velocity: Vector,
}

/// A cube of cells that continues at its opposite sides.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Space {
    /// Along each axis.
    pub(crate) cells: u32,
}

impl Space {
    /// Cells along x, y and z.
    pub(crate) fn extent(&self) -> Place {
        (self.cells, self.cells, self.cells)
    }

    /// Cells.
    pub(crate) fn len(&self) -> u64 {
        u64::from(self.cells).pow(3)
    }

    fn edge(&self) -> f64 {
        f64::from(self.cells) * EDGE
    }

    /// A cell's atoms at first: a lattice, which the first velocities shake.
    pub(crate) fn atoms(&self, (x, y, z): Place) -> Vec<Atom> {
        let points = u64::from(self.cells * LATTICE);
        let atom = |(i, j, k): Place| {
            let lattice = [x * LATTICE + i, y * LATTICE + j, z * LATTICE + k];
            let number = lattice.iter().fold(0, |number, point| number * points + u64::from(*point));
            let mut chance = SmallRng::seed_from_u64(number);
            Atom {
                number,
                position: lattice.map(|point| (f64::from(point) + 0.5) * SPACING),
                velocity: [(); 3].map(|()| chance.random_range(-SPEED..SPEED)),
            }
        };
        chare::indices((0, 0, 0)..(LATTICE, LATTICE, LATTICE)).map(atom).collect()
    }

    /// The cells that touch a cell, itself among them.
    pub(crate) fn around(&self, (x, y, z): Place) -> impl Iterator<Item = Place> + use<> {
        let cells = self.cells;
        let beside = move |at: u32, step: u32| (at + cells + step - 1) % cells;
        chare::indices((0, 0, 0)..(3, 3, 3)).map(move |(i, j, k)| (beside(x, i), beside(y, j), beside(z, k)))
    }

    /// The pairs that a cell belongs to.
    pub(crate) fn pairs_of(&self, here: Place) -> impl Iterator<Item = PairPlace> + use<> {
        self.around(here).map(move |there| {
            let (first, second) = (here.min(there), here.max(there));
            (first.0, first.1, first.2, second.0, second.1, second.2)
        })
    }

    /// The cell that a position lies in, and the same position within the cube.
    ///
    /// # Panics
    /// If it has strayed so far from cell `from` that forces may have been missed.
    pub(crate) fn locate(&self, from: Place, position: Vector) -> (Place, Vector) {
        let centre = [from.0, from.1, from.2].map(|at| (f64::from(at) + 0.5) * EDGE);
        let strayed = self.between(position, centre);
        assert!(
            strayed.iter().all(|distance| distance.abs() <= EDGE / 2.0 + MARGIN),
            "an atom went from cell {from:?} to {position:?} in {STEPS_IN_A_CELL} steps"
        );
        let position = position.map(|coordinate| coordinate.rem_euclid(self.edge()));
        // Rounding may take a coordinate to the very end.
        let [x, y, z] = position.map(|coordinate| ((coordinate / EDGE) as u32).min(self.cells - 1));
        ((x, y, z), position)
    }

    /// The way from `b` to the nearest image of `a`.
    fn between(&self, a: Vector, b: Vector) -> Vector {
        let edge = self.edge();
        let along = |axis: usize| {
            let distance: f64 = a[axis] - b[axis];
            distance - edge * (distance / edge).round()
        };
        [along(0), along(1), along(2)]
    }

    /// The force on an atom at `a` by one at `b`, and the potential of both; `None` beyond the cutoff.
    pub(crate) fn force(&self, a: Vector, b: Vector) -> Option<(Vector, f64)> {
        let way = self.between(a, b);
        let square: f64 = way.iter().map(|along| along * along).sum();
        if square >= CUTOFF * CUTOFF {
            return None;
        }
        let distance = square.sqrt();
        let (force, potential) = lennard_jones(distance);
        // Shifted, so that neither jumps at the cutoff: an atom that crosses it would gain or lose energy.
        let (force_there, potential_there) = lennard_jones(CUTOFF);
        let potential = potential - potential_there + (distance - CUTOFF) * force_there;
        let along = (force - force_there) / distance;
        Some((way.map(|component| component * along), potential))
    }
}

/// Force, positive if it repels, and potential.
fn lennard_jones(distance: f64) -> (f64, f64) {
    let sixth = distance.powi(-6);
    (24.0 * (2.0 * sixth * sixth - sixth) / distance, 4.0 * (sixth * sixth - sixth))
}
