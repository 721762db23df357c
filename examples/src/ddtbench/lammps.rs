//! Exchanges of LAMMPS, molecular dynamics: atoms from a list, which land in a row behind those that are there.

use super::by_hand::ByHand;
use super::by_hand::lists::Atoms;
use super::kernel::{Array, Kernel, Precision, Selected, shuffled};
use super::tree::Tree;

/// Doubles of an atom in each array: place, tag, type, mask, charge and molecule.
const FULL: [usize; 6] = [3, 1, 1, 1, 1, 1];

/// Place, tag, type and mask.
const ATOMIC: [usize; 4] = [3, 1, 1, 1];

/// Processes, atoms of one of them, and how many of these it sends at most: LAMMPS' example of peptides.
const PEPTIDE: [(u32, usize, usize); 3] = [(2, 3534, 3062), (4, 2597, 2243), (8, 1907, 1662)];

/// The same of its example of cracks.
const CRACK: [(u32, usize, usize); 3] = [(2, 4084, 243), (4, 2157, 145), (8, 1217, 114)];

pub(super) fn kernels() -> Vec<Kernel> {
    let full = PEPTIDE.iter().map(|size| kernel("LAMMPS_full", &FULL, size));
    full.chain(CRACK.iter().map(|size| kernel("LAMMPS_atomic", &ATOMIC, size))).collect()
}

fn kernel(name: &'static str, widths: &'static [usize], size: &(u32, usize, usize)) -> Kernel {
    let (processes, atoms, count) = *size;
    let list = shuffled(count, atoms);
    let array = |width: &usize| {
        let len = width * (atoms + count);
        let listed = Tree::Element.indexed_block(*width, list.iter().map(|atom| width * atom));
        let in_a_row = Tree::Element.contiguous(width * count);
        Array {
            source: Selected { len, start: 0, tree: listed },
            target: Selected { len, start: width * atoms, tree: in_a_row },
        }
    };
    Kernel {
        name,
        size: format!("{processes} processes"),
        precision: Precision::Double,
        arrays: widths.iter().map(array).collect(),
        by_hand: ByHand::Atoms(Atoms { others: widths.len() - 1, atoms, list }),
    }
}
