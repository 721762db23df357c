//! Computing: arithmetic of a fixed length that touches no memory, in entries of some length.

use std::hint::black_box;

/// Entries in which the program computes beside one operation: between two of them its PE looks for messages.
pub(crate) const ENTRIES: u64 = 16;

/// Bytes copied by one processor in a step of the computing, or fewer: so it takes no less time than copies that are made beside it by
/// one processor.
const COPIED_IN_A_STEP: usize = 16;

/// Steps of computing beside copies of so many bytes.
pub(crate) fn steps_beside(copied: usize) -> u64 {
    (copied / COPIED_IN_A_STEP) as u64
}

/// Computes so many steps, each of which needs the one before.
pub(crate) fn compute(steps: u64) {
    let mut state = black_box(0x9E37_79B9_7F4A_7C15_u64);
    for _ in 0..steps {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    black_box(state);
}
