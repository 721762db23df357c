//! Exchange of a Fourier transform in two dimensions on two processes: the half of the columns that the other is to have, which land
//! transposed.

use super::by_hand::ByHand;
use super::by_hand::fft::{COMPLEX, Transposition};
use super::kernel::{Array, Kernel, Precision, Selected};
use super::tree::Tree;

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
