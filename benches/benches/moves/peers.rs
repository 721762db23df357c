//! The peers: the least that a move could take.

use chare_benches::{Batches, processor, take_seat};
use crossbeam_queue::SegQueue;
use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

/// Measures one box of a state, made on one thread and dropped on another.
pub(crate) fn boxes(batches: Batches) {
    let (queue, is_over) = (SegQueue::new(), AtomicBool::new(false));
    thread::scope(|scope| {
        take_seat(processor(0));
        scope.spawn(|| {
            take_seat(processor(1));
            while !is_over.load(Ordering::Acquire) {
                while let Some(state) = queue.pop() {
                    drop::<Box<[u64; 8]>>(black_box(state));
                }
                spin_loop();
            }
        });
        batches.run(|times| {
            let began = Instant::now();
            for number in 0..times {
                queue.push(Box::new([number; 8]));
            }
            while !queue.is_empty() {
                spin_loop();
            }
            began.elapsed()
        });
        is_over.store(true, Ordering::Release);
    });
}

/// Measures one copy of so many bytes.
pub(crate) fn copy(batches: Batches, bytes: u64) {
    let (source, mut target) = (vec![1_u8; bytes as usize], vec![0_u8; bytes as usize]);
    batches.run(|times| {
        let began = Instant::now();
        for _ in 0..times {
            target.copy_from_slice(black_box(&source));
            black_box(&mut target);
        }
        began.elapsed()
    });
}
