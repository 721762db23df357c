//! Kernels: the copies themselves, on raw pointers, and the one place with `unsafe`.
//!
//! Rules of all of them:
//! 1. Who calls a kernel has checked that everything it will touch lies within memory that may be read, or written; kernels
//!    check nothing. `front` does it for slices.
//! 2. No reference is ever made to memory of a layout: a peer may touch it. Source and target share no byte.
//! 3. Places are reached by wrapping arithmetic from one base and only then touched, so a loop may step past its end.
//! 4. What was streamed past the caches is fenced before the outermost call returns.

pub(crate) mod front;

mod blocks;
mod execute;
mod fields;
mod indexed;
mod lines;
mod streaming;
mod transposed;
mod walked;

/// Calls a kernel with the size of its blocks as a constant, where it has one, or the general one.
macro_rules! by_block {
    ($block:expr, $fixed:ident($($argument:expr),*), $general:expr) => {
        match $block {
            1 => $fixed::<1>($($argument),*),
            2 => $fixed::<2>($($argument),*),
            4 => $fixed::<4>($($argument),*),
            8 => $fixed::<8>($($argument),*),
            12 => $fixed::<12>($($argument),*),
            16 => $fixed::<16>($($argument),*),
            24 => $fixed::<24>($($argument),*),
            32 => $fixed::<32>($($argument),*),
            48 => $fixed::<48>($($argument),*),
            64 => $fixed::<64>($($argument),*),
            _ => $general,
        }
    };
}
use by_block;

/// Steps ahead whose memory is asked for, where the hardware does not foresee it: 8 to 16 hide a miss.
const AHEAD: usize = 12;

/// Asks for the line at `place`, which need not exist.
#[inline(always)]
fn prefetch(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "a hint to the processor")]
    // SAFETY: SSE is part of x86-64; a prefetch touches no memory as far as the program can tell, and faults nowhere.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

#[cfg(test)]
mod tests;
