//! Kernel of a task: a multiplication and an addition in each of 64 lanes, as often as its grain says; those of a lane depend on each other.

use chare_benches::{Batches, processor, take_seat};
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

const LANES: usize = 64;

/// Computes for a time that grows with `grain`; nothing at 0.
#[inline(never)]
pub(crate) fn compute(grain: u64) {
    let mut lanes = [black_box(1.000_000_1_f64); LANES];
    for _ in 0..grain {
        for lane in &mut lanes {
            *lane = *lane * 0.999_999_9 + 1e-9;
        }
    }
    black_box(&lanes);
}

/// Measures one unit of the grain on each of so many processors at one time: the limit, for an efficiency of one.
pub(crate) fn measure(batches: Batches, threads: usize) {
    let barrier = Barrier::new(threads);
    thread::scope(|scope| {
        for thread in 1..threads {
            let barrier = &barrier;
            scope.spawn(move || {
                take_seat(processor(thread));
                for _ in 0..=batches.count {
                    barrier.wait();
                    compute(batches.operations);
                }
            });
        }
        take_seat(processor(0));
        batches.run(|grain| {
            barrier.wait();
            let began = Instant::now();
            compute(grain);
            began.elapsed()
        });
    });
}
