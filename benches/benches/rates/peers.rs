//! The peers: threads that push, and one that takes, over queues of many producers.

use chare_benches::{Batches, processor, take_seat};
use crossbeam_queue::SegQueue;
use std::hint::{black_box, spin_loop};
use std::sync::Barrier;
use std::thread;
use std::time::Instant;
use tokio::runtime::Builder;
use tokio::sync::mpsc;

/// Runs `send` on each of `senders` threads, for its share of every batch, and `take` on this thread, for all of a batch.
fn play(batches: Batches, senders: u64, send: impl Fn(u64) + Sync, mut take: impl FnMut(u64)) {
    let start = Barrier::new(senders as usize + 1);
    let each = batches.operations / senders;
    let sit = |seat| {
        if senders == 1 {
            take_seat(processor(seat));
        }
    };
    thread::scope(|scope| {
        for _ in 0..senders {
            scope.spawn(|| {
                sit(1);
                // The first batch warms up.
                for _ in 0..=batches.count {
                    start.wait();
                    (0..each).for_each(&send);
                }
            });
        }
        sit(0);
        batches.run(|_| {
            start.wait();
            let began = Instant::now();
            take(each * senders);
            began.elapsed()
        });
    });
}

/// Boxed messages over a lock-free queue.
pub(crate) fn segments(batches: Batches, senders: u64) {
    let queue = SegQueue::new();
    let pop = || loop {
        match queue.pop() {
            Some(message) => break black_box::<Box<u64>>(message),
            None if senders == 1 => spin_loop(),
            // More threads than processors: our PEs yield then, too.
            None => thread::yield_now(),
        }
    };
    let take = |messages| (0..messages).for_each(|_| drop(pop()));
    play(batches, senders, |number| queue.push(Box::new(number)), take);
}

/// Messages over tokio's channel, taken by a task of a runtime on one thread.
pub(crate) fn tokio_mpsc(batches: Batches, senders: u64) {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let runtime = Builder::new_current_thread().build().expect("a runtime without drivers");
    let take = |messages| {
        runtime.block_on(async {
            for _ in 0..messages {
                black_box(receiver.recv().await);
            }
        });
    };
    play(batches, senders, |number| sender.send(number).expect("it is taken"), take);
}
