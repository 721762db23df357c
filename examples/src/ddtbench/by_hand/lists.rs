//! Loops over lists: atoms of LAMMPS, points of SPECFEM3D, and its every second triple.

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

/// Points of one or of three floats, a list for each array.
pub(in crate::ddtbench) struct Lists {
    pub(in crate::ddtbench) has_triples: bool,
    pub(in crate::ddtbench) lists: Vec<Vec<usize>>,
}

impl Loops for Lists {
    fn each_row(&self, _end: End, mut row: impl FnMut(usize, usize, usize)) {
        for (array, list) in self.lists.iter().enumerate() {
            if self.has_triples {
                for point in list {
                    row(array, 3 * point, 3);
                }
            } else {
                for point in list {
                    row(array, *point, 1);
                }
            }
        }
    }
}

/// Every second triple, which land in a row.
pub(in crate::ddtbench) struct Tensor {
    pub(in crate::ddtbench) triples: usize,
}

impl Loops for Tensor {
    fn each_row(&self, end: End, mut row: impl FnMut(usize, usize, usize)) {
        if end == End::Target {
            row(0, 0, 3 * self.triples);
            return;
        }
        for triple in 0..self.triples {
            row(0, 3 * 2 * triple, 3);
        }
    }
}
