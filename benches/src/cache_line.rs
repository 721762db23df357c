//! The limit of any message between two processors: one word to and fro.

use crate::sample::Batches;
use crate::seat::{processor, take_seat};
use crossbeam::utils::CachePadded;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

/// What ends the other thread.
const STOP: u64 = u64::MAX;

/// Two pinned threads that spin: one word to and fro.
pub fn cache_line(batches: Batches) {
    // Odd: the other thread's turn. Written in turn; each release store pairs with the other's acquire load.
    let word = CachePadded::new(AtomicU64::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            take_seat(processor(1));
            loop {
                match word.load(Ordering::Acquire) {
                    STOP => break,
                    turn if turn % 2 == 1 => word.store(turn + 1, Ordering::Release),
                    _ => spin_loop(),
                }
            }
        });
        take_seat(processor(0));
        let mut turn = 0;
        batches.run(|passes| {
            let began = Instant::now();
            for _ in 0..passes / 2 {
                word.store(turn + 1, Ordering::Release);
                turn += 2;
                while word.load(Ordering::Acquire) != turn {
                    spin_loop();
                }
            }
            began.elapsed()
        });
        word.store(STOP, Ordering::Release);
    });
}
