//! Message rates: how many messages a second a PE takes from the others of its process; and the peers: threads that push, and one that takes, over
//! queues of many producers.
//!
//! Senders push as fast as they can, one receiver takes; the time runs from the start until the receiver has all. The table shows
//! nanoseconds per message, so the ratio of messages per second is the inverse of the one printed.

mod ours;

use chare_benches::{Batches, Comparison, Side, processor, run, take_seat};
use crossbeam_queue::SegQueue;
use std::hint::{black_box, spin_loop};
use std::process::ExitCode;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;
use tokio::runtime::Builder;
use tokio::sync::mpsc;

/// Samples of one run of a side. A batch takes some milliseconds.
const BATCHES: u32 = 16;

const OURS_1: Side = &["side", "calls", "100000", "+p", "2"];
const OURS_4: Side = &["side", "calls", "100000", "+p", "5"];
const SEGMENTS_1: Side = &["side", "segments", "100000", "1"];
const SEGMENTS_4: Side = &["side", "segments", "100000", "4"];
const TOKIO_1: Side = &["side", "tokio", "100000", "1"];
const TOKIO_4: Side = &["side", "tokio", "100000", "4"];

const COMPARISONS: &[Comparison] = &[
    Comparison { name: "1 sender", ours: OURS_1, against: "boxes over SegQueue", peer: SEGMENTS_1 },
    Comparison { name: "1 sender", ours: OURS_1, against: "tokio mpsc, unbounded", peer: TOKIO_1 },
    Comparison { name: "4 senders", ours: OURS_4, against: "boxes over SegQueue", peer: SEGMENTS_4 },
    Comparison { name: "4 senders", ours: OURS_4, against: "tokio mpsc, unbounded", peer: TOKIO_4 },
];

fn main() -> ExitCode {
    run("What a message costs when many are under way", COMPARISONS, play)
}

/// Measures as one side; `number` is how many messages make a batch.
fn play(side: &str, number: u64, rest: &[String]) -> Option<ExitCode> {
    let batches = Batches { operations: number, count: BATCHES };
    let senders = rest.first().and_then(|senders| senders.parse().ok());
    match (side, senders) {
        ("calls", _) => return Some(ours::calls(batches)),
        ("segments", Some(senders)) => segments(batches, senders),
        ("tokio", Some(senders)) => tokio_mpsc(batches, senders),
        _ => return None,
    }
    Some(ExitCode::SUCCESS)
}

/// Runs `send` on each of `senders` threads, for its share of every batch, and `take` on this thread, for all of a batch.
fn push_and_take(batches: Batches, senders: u64, send: impl Fn(u64) + Sync, mut take: impl FnMut(u64)) {
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
fn segments(batches: Batches, senders: u64) {
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
    push_and_take(batches, senders, |number| queue.push(Box::new(number)), take);
}

/// Messages over tokio's channel, taken by a task of a runtime on one thread.
fn tokio_mpsc(batches: Batches, senders: u64) {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let runtime = Builder::new_current_thread().build().expect("a runtime without drivers");
    let take = |messages| {
        runtime.block_on(async {
            for _ in 0..messages {
                black_box(receiver.recv().await);
            }
        });
    };
    push_and_take(batches, senders, |number| sender.send(number).expect("it is taken"), take);
}
