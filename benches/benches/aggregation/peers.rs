//! The peer: one copy of all numbers of a batch from one memory to another.

use chare_benches::Batches;
use std::hint::black_box;
use std::time::Instant;

/// Measures the copy of a number.
pub(crate) fn memcpy(batches: Batches) {
    let numbers: Vec<u64> = (0..batches.operations).collect();
    let mut copy = vec![1u64; numbers.len()];
    batches.run(|count| {
        let began = Instant::now();
        black_box(&mut copy[..count as usize]).copy_from_slice(black_box(&numbers[..count as usize]));
        began.elapsed()
    });
}
