//! The field of a patch as a chare: the charges at the corners of the patch's cells. Its array is bound to that of the patches, so it is where its
//! patch is whenever one of them runs, and goes along when a balancer moves that.

use crate::particle::Cell;
use crate::patch::{Place, Problem};
use chare::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct Field {
    /// The cell at the patch's lower left.
    first: Cell,
    /// Corners along each side.
    corners: usize,
    /// Row by row.
    charges: Vec<f64>,
}

#[chare(array, index = Place, migrate)]
impl Field {
    #[entry]
    pub(crate) fn new(problem: Problem) -> Self {
        let (first, corners) = (problem.first_cell(chare::this_index()), problem.cells() + 1);
        let row = || (0..corners).map(|corner| problem.grid.charge_at(first[0] + corner));
        let charges = (0..corners).flat_map(|_| row()).collect();
        Self { first, corners: corners as usize, charges }
    }
}

impl Field {
    /// The charges at the corners of a cell of the patch: at the bottom from left to right, then at the top.
    pub(crate) fn around(&self, cell: Cell) -> [f64; 4] {
        let [column, row] = [0, 1].map(|axis| (cell[axis] - self.first[axis]) as usize);
        let bottom = row * self.corners + column;
        [0, 1, self.corners, self.corners + 1].map(|corner| self.charges[bottom + corner])
    }
}
