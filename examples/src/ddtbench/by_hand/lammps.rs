//! Loops of LAMMPS: atoms from a list.

use super::loops::End;
use super::loops::Loops;

/// Atoms of several arrays, of which the first has three doubles for each.
pub(in crate::ddtbench) struct Atoms {
    /// Arrays with one double for each.
    pub(in crate::ddtbench) others: usize,
    pub(in crate::ddtbench) atoms: usize,
    pub(in crate::ddtbench) list: Vec<usize>,
}

impl Loops for Atoms {
    fn each_row(&self, end: End, mut row: impl FnMut(usize, usize, usize)) {
        let Self { others, atoms, list } = self;
        if end == End::Target {
            row(0, 3 * atoms, 3 * list.len());
            for array in 1..=*others {
                row(array, *atoms, list.len());
            }
            return;
        }
        for atom in list {
            row(0, 3 * atom, 3);
        }
        for array in 1..=*others {
            for atom in list {
                row(array, *atom, 1);
            }
        }
    }
}
