//! Cache line limits: the least time of a message between two processors, by a word to and fro and by a word for each way.

use crate::sample::Batches;
use crate::seat::{processor, take_seat};
use crossbeam_utils::CachePadded;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

/// The word that ends the other thread.
const STOP: u64 = u64::MAX;

/// Two pinned threads that spin: one word to and fro.
pub fn cache_line(batches: Batches) {
    let word = CachePadded::new(AtomicU64::new(0));
    to_and_fro(batches, &word, &word);
}

/// The same with a word for each way, as queues have: the writer takes its line from the reader, and the reader fetches it back, where
/// one word to and fro is with its writer already.
pub fn cache_line_each_way(batches: Batches) {
    let [there, back] = [const { CachePadded::new(AtomicU64::new(0)) }; 2];
    to_and_fro(batches, &there, &back);
}

fn to_and_fro(batches: Batches, there: &AtomicU64, back: &AtomicU64) {
    thread::scope(|scope| {
        scope.spawn(|| {
            take_seat(processor(1));
            let mut turn = 1;
            // Each release store pairs with the other thread's acquire load.
            loop {
                match there.load(Ordering::Acquire) {
                    STOP => break,
                    now if now == turn => {
                        back.store(turn + 1, Ordering::Release);
                        turn += 2;
                    }
                    _ => spin_loop(),
                }
            }
        });
        take_seat(processor(0));
        let mut turn = 0;
        batches.run(|passes| {
            let began = Instant::now();
            for _ in 0..passes / 2 {
                there.store(turn + 1, Ordering::Release);
                turn += 2;
                while back.load(Ordering::Acquire) != turn {
                    spin_loop();
                }
            }
            began.elapsed()
        });
        there.store(STOP, Ordering::Release);
    });
}
