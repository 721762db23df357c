//! Samples: contents that are measured, how many batches, and how long each takes.

use crate::shape::Shape;
use chare_benches::{Batches, processor, take_seat};
use std::time::Instant;

/// Samples of one run of a side. A batch takes some milliseconds.
pub(crate) const BATCHES: u32 = 16;

/// Not zero: untouched memory would be one page of zeroes, read from the nearest cache.
pub(crate) fn written(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|place| (place % 251) as u8).collect()
}

/// Tells the time of `pass`.
pub(crate) fn measure<E>(operations: u64, mut pass: impl FnMut() -> Result<(), E>) -> Result<(), E> {
    take_seat(processor(0));
    let mut result = Ok(());
    Batches { operations, count: BATCHES }.run(|operations| {
        let began = Instant::now();
        for _ in 0..operations {
            if result.is_ok() {
                result = pass();
            }
        }
        began.elapsed()
    });
    result
}

/// As often as takes some milliseconds.
pub(crate) fn for_shape(shape: Shape) -> u64 {
    (16 << 20) / shape.payload() as u64
}
