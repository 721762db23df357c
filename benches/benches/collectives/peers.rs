//! The peer: two threads, each of which calls its half of the closures and adds up what they return.

use chare_benches::{Batches, processor, take_seat};
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

type Closure = Box<dyn FnMut(u64) -> u64 + Send>;

/// One closure for each element, with a state of its own.
fn half(first: u64, end: u64) -> Vec<Closure> {
    let closure = |mut state: u64| {
        Box::new(move |amount| {
            state += amount;
            state
        }) as Closure
    };
    (first..end).map(closure).collect()
}

fn step(closures: &mut [Closure]) -> u64 {
    closures.iter_mut().fold(0, |sum, closure| sum.wrapping_add(black_box(closure)(1)))
}

pub(crate) fn closures(batches: Batches) {
    let (start, end) = (Barrier::new(2), Barrier::new(2));
    let other = AtomicU64::new(0);
    let (middle, all) = (batches.operations / 2, batches.operations);
    thread::scope(|scope| {
        scope.spawn(|| {
            take_seat(processor(1));
            let mut closures = half(middle, all);
            // The first batch warms up.
            for _ in 0..=batches.count {
                start.wait();
                other.store(step(&mut closures), Ordering::Relaxed);
                end.wait();
            }
        });
        take_seat(processor(0));
        let mut closures = half(0, middle);
        batches.run(|_| {
            start.wait();
            let began = Instant::now();
            let own = step(&mut closures);
            end.wait();
            black_box(own + other.load(Ordering::Relaxed));
            began.elapsed()
        });
    });
}
