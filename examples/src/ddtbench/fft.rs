//! Exchange of a Fourier transform in two dimensions on two processes: the half of the columns that the other is to have, which land
//! transposed.

use super::by_hand::{ByHand, Loops};
use super::kernel::{Array, End, Kernel, Precision, Selected};
use super::tree::Tree;

/// Doubles of a complex number.
const COMPLEX: usize = 2;

/// Rows and columns of the matrix, of which each process has half the rows.
const SIZES: [usize; 5] = [256, 512, 768, 1024, 1536];

pub(super) fn kernels() -> Vec<Kernel> {
    SIZES.into_iter().map(kernel).collect()
}

fn kernel(size: usize) -> Kernel {
    let half = size / 2;
    let number = Tree::Element.contiguous(COMPLEX);
    let gathered = number.clone().vector(half, half, size);
    let column = number.vector(half, 1, size).resized(COMPLEX * Precision::Double.bytes());
    let len = COMPLEX * half * size;
    let arrays = vec![Array {
        source: Selected { len, start: COMPLEX * half, tree: gathered },
        target: Selected { len, start: 0, tree: column.contiguous(half) },
    }];
    let by_hand = ByHand::Transposition(Transposition { size });
    Kernel { name: "FFT2", size: format!("{size}x{size}"), precision: Precision::Double, arrays, by_hand }
}

/// The right half of the rows, which lands in the left half of the other's, by columns.
pub(super) struct Transposition {
    size: usize,
}

impl Loops for Transposition {
    /// Of the source alone: unpacking has loops of its own.
    fn each_row(&self, _end: End, mut row: impl FnMut(usize, usize, usize)) {
        let (size, half) = (self.size, self.size / 2);
        for from in 0..half {
            row(0, COMPLEX * (half + size * from), COMPLEX * half);
        }
    }

    /// Row by row of the target, as DDTBench does: lines are written once, and read several times.
    fn unpack<T: Copy>(&self, packed: &[T], targets: &mut [&mut [T]]) {
        let (size, half) = (self.size, self.size / 2);
        for to in 0..half {
            for from in 0..half {
                let (target, source) = (COMPLEX * (from + size * to), COMPLEX * (to + half * from));
                targets[0][target..target + COMPLEX].copy_from_slice(&packed[source..source + COMPLEX]);
            }
        }
    }
}
