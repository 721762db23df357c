//! Loops of a Fourier transform: the half of the columns that the other is to have, written transposed.

use super::loops::End;
use super::loops::Loops;

/// Doubles of a complex number.
pub(in crate::ddtbench) const COMPLEX: usize = 2;

/// The right half of the rows, which lands in the left half of the other's, by columns.
pub(in crate::ddtbench) struct Transposition {
    pub(in crate::ddtbench) size: usize,
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
