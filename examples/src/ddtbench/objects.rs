//! Objects in two dimensions, rows of some bytes as far apart as they are long: what TEMPI (2021, Fig. 11) sends between two processes to
//! see what the length of a row does.

use super::by_hand::ByHand;
use super::by_hand::strided::Rows;
use super::kernel::{Array, Kernel, Precision};
use super::tree::Tree;

/// What objects are called, and their bytes.
const OBJECTS: [(&str, usize); 3] =
    [("object_1KiB", 1 << 10), ("object_1MiB", 1 << 20), ("object_4MiB", 4 << 20)];

/// Bytes of a row.
const ROWS: [usize; 6] = [4, 16, 64, 256, 1 << 10, 4 << 10];

pub(super) fn kernels() -> Vec<Kernel> {
    let rows = |bytes| ROWS.into_iter().filter(move |row| *row < bytes);
    OBJECTS
        .into_iter()
        .flat_map(|(name, bytes)| rows(bytes).map(move |row| kernel(name, bytes, row)))
        .collect()
}

fn kernel(name: &'static str, bytes: usize, row: usize) -> Kernel {
    let rows = Rows { count: bytes / row, len: row / Precision::Single.bytes() };
    let tree = Tree::Element.vector(rows.count, rows.len, 2 * rows.len);
    Kernel {
        name,
        size: format!("rows of {row}"),
        precision: Precision::Single,
        arrays: vec![Array::alike(2 * rows.len * rows.count, 0, tree)],
        by_hand: ByHand::Rows(rows),
    }
}
