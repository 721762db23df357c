//! The peers: the least work that each path needs, with nothing around it.

use chare_benches::{Batches, processor, take_seat};
use crossbeam_queue::{ArrayQueue, SegQueue};
use std::collections::VecDeque;
use std::hint::{black_box, spin_loop};
use std::thread;
use std::time::Instant;

/// The message that ends a chain's other end.
const STOP: u64 = u64::MAX;

/// A message as small as they come: it knows what to call.
trait Message {
    fn run(self: Box<Self>, queue: &mut Queue);
}

type Queue = VecDeque<Box<dyn Message>>;

struct Pass {
    left: u64,
}

impl Message for Pass {
    fn run(self: Box<Self>, queue: &mut Queue) {
        if self.left > 0 {
            queue.push_back(Box::new(Self { left: self.left - 1 }));
        }
    }
}

/// One thread: push a boxed message, pop it, call it.
pub(crate) fn virtual_call(batches: Batches) {
    take_seat(processor(0));
    let mut queue: Queue = VecDeque::with_capacity(64);
    batches.run(|calls| {
        let began = Instant::now();
        queue.push_back(black_box(Box::new(Pass { left: calls })));
        while let Some(message) = queue.pop_front() {
            message.run(&mut queue);
        }
        began.elapsed()
    });
}

/// A boxed message to and fro over unbounded queues.
pub(crate) fn segment_queue(batches: Batches) {
    let (there, back) = (SegQueue::new(), SegQueue::new());
    let (push_there, push_back) = (|message| there.push(message), |message| back.push(message));
    pass_boxes(batches, (push_there, || there.pop()), (push_back, || back.pop()));
}

/// A boxed message to and fro over bounded queues.
pub(crate) fn array_queue(batches: Batches) {
    let (there, back) = (ArrayQueue::new(64), ArrayQueue::new(64));
    let push =
        |queue: &ArrayQueue<_>, message| assert!(queue.push(message).is_ok(), "one message is under way");
    let (push_there, push_back) = (|message| push(&there, message), |message| push(&back, message));
    pass_boxes(batches, (push_there, || there.pop()), (push_back, || back.pop()));
}

/// Two pinned threads that spin: a boxed message to and fro, each way over a queue's push and pop.
fn pass_boxes(
    batches: Batches,
    there: (impl Fn(Box<u64>) + Sync, impl Fn() -> Option<Box<u64>> + Sync),
    back: (impl Fn(Box<u64>) + Sync, impl Fn() -> Option<Box<u64>> + Sync),
) {
    fn wait(pop: &impl Fn() -> Option<Box<u64>>) -> u64 {
        loop {
            match pop() {
                Some(message) => break *message,
                None => spin_loop(),
            }
        }
    }
    thread::scope(|scope| {
        scope.spawn(|| {
            take_seat(processor(1));
            loop {
                match wait(&there.1) {
                    STOP => break,
                    left => (back.0)(Box::new(left - 1)),
                }
            }
        });
        take_seat(processor(0));
        batches.run(|messages| {
            let began = Instant::now();
            let mut left = messages;
            while left > 0 {
                (there.0)(Box::new(left - 1));
                left = wait(&back.1);
            }
            began.elapsed()
        });
        (there.0)(Box::new(STOP));
    });
}
