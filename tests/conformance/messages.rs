//! Frames: the promises of every backend with messages.

use crate::group::{Backend, Group, Heard, PATIENCE, assert_pattern, fill};
use crate::runner::Outcome;
use chare_lrts::{Channel, Completion, Frame, Lrts, LrtsError, NodeId, Sink};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Instant;

/// A group of a backend with messages, or why there is none.
macro_rules! group {
    ($backend:expr, $nodes:expr) => {
        match $backend.open($nodes) {
            Err(why) => return Outcome::Skipped(why),
            Ok(group) if !group.nodes[0].lrts.capabilities().messages => {
                return Outcome::Skipped("it carries no messages".to_owned());
            }
            Ok(group) => group,
        }
    };
}
pub(crate) use group;

fn bytes(len: usize, seed: u8) -> Vec<u8> {
    let mut bytes = vec![0; len];
    fill(&mut bytes, seed);
    bytes
}

pub(crate) fn frames_of_every_size_arrive_whole(backend: &dyn Backend) -> Outcome {
    let mut group = group!(backend, 2);
    let max = group.nodes[0].lrts.capabilities().frame_bytes_max;
    let powers = (0..).map(|power| 1_usize << power).take_while(|len| *len < max);
    let mut sizes: Vec<usize> = powers.flat_map(|len| [len - 1, len, len + 1]).collect();
    sizes.extend([max - 1, max]);
    for (round, len) in sizes.iter().enumerate() {
        group.send(0, 1, bytes(*len, round as u8));
    }
    group.until("all frames", |group| group.heard[1].frames.len() == sizes.len());
    for (round, (len, (source, frame))) in sizes.iter().zip(&group.heard[1].frames).enumerate() {
        assert_eq!((*source, frame.len()), (NodeId(0), *len));
        assert_pattern(frame, 0, round as u8);
    }
    group.close();
    Outcome::Passed
}

pub(crate) fn a_frame_too_long_is_a_bug_of_the_caller(backend: &dyn Backend) -> Outcome {
    let group = group!(backend, 2);
    let lrts = &group.nodes[0].lrts;
    let frame = vec![0; lrts.capabilities().frame_bytes_max + 1];
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let outcome = catch_unwind(AssertUnwindSafe(|| lrts.send(NodeId(1), Frame::runtime(&frame))));
    std::panic::set_hook(report);
    assert!(outcome.is_err(), "one byte more than `frame_bytes_max` must panic");
    group.close();
    Outcome::Passed
}

/// Frames with a number, from a thread of its own.
fn flood(lrts: &dyn Lrts, target: NodeId, count: u32, len: impl Fn(u32) -> usize) {
    let deadline = Instant::now() + PATIENCE;
    for number in 0..count {
        let mut bytes = vec![number as u8; 4 + len(number)];
        bytes[..4].copy_from_slice(&number.to_le_bytes());
        while lrts.send(target, Frame::runtime(&bytes)).is_err() {
            assert!(Instant::now() < deadline, "no room for frame {number}");
            std::thread::yield_now();
        }
    }
}

/// Checks that frames of one source came in order, each once and whole.
fn assert_in_order(heard: &Heard, source: NodeId, count: u32, len: impl Fn(u32) -> usize) {
    let frames = heard.frames.iter().filter(|(from, _)| *from == source);
    let mut next = 0;
    for (_, frame) in frames {
        assert_eq!(frame[..4], u32::to_le_bytes(next), "frames of {source} in order");
        assert_eq!(frame.len(), 4 + len(next));
        assert!(frame[4..].iter().all(|byte| *byte == next as u8));
        next += 1;
    }
    assert_eq!(next, count, "frames of {source}");
}

pub(crate) fn many_to_one(backend: &dyn Backend) -> Outcome {
    const COUNT: u32 = 1_500;
    let len = |number: u32| (number as usize * 37) % 3_000;
    let mut group = group!(backend, 4);
    let Group { nodes, heard } = &mut group;
    std::thread::scope(|scope| {
        for node in &nodes[1..] {
            scope.spawn(|| {
                flood(&*node.lrts, NodeId(0), COUNT, len);
                // Some backends push out what they queued when they make progress.
                let mut mine = Heard::default();
                let deadline = Instant::now() + PATIENCE;
                while node.lrts.progress(&mut mine) && Instant::now() < deadline {}
            });
        }
        let deadline = Instant::now() + PATIENCE;
        while heard[0].frames.len() < 3 * COUNT as usize {
            if !nodes[0].lrts.progress(&mut heard[0]) {
                // A sender that is done pushes no more; this thread does it.
                nodes[1..].iter().for_each(|node| {
                    node.lrts.progress(&mut Heard::default());
                });
                std::thread::yield_now();
            }
            assert!(Instant::now() < deadline, "{} frames", heard[0].frames.len());
        }
    });
    for source in 1..4 {
        assert_in_order(&group.heard[0], NodeId(source), COUNT, len);
    }
    group.close();
    Outcome::Passed
}

pub(crate) fn both_directions_at_once(backend: &dyn Backend) -> Outcome {
    const COUNT: u32 = 1_000;
    let mut group = group!(backend, 2);
    let longest = group.nodes[0].lrts.capabilities().frame_bytes_max.min(20_000) - 4;
    let len = |number: u32| (number as usize * 131) % longest;
    let Group { nodes, heard } = &mut group;
    std::thread::scope(|scope| {
        let (first, second) = (&nodes[0].lrts, &nodes[1].lrts);
        scope.spawn(move || flood(&**first, NodeId(1), COUNT, len));
        scope.spawn(move || flood(&**second, NodeId(0), COUNT, len));
        let deadline = Instant::now() + PATIENCE;
        while heard.iter().any(|heard| heard.frames.len() < COUNT as usize) {
            let happened = nodes
                .iter()
                .zip(heard.iter_mut())
                .fold(false, |happened, (node, heard)| node.lrts.progress(heard) || happened);
            if !happened {
                std::thread::yield_now();
            }
            assert!(Instant::now() < deadline, "frames in both directions");
        }
    });
    assert_in_order(&group.heard[0], NodeId(1), COUNT, len);
    assert_in_order(&group.heard[1], NodeId(0), COUNT, len);
    group.close();
    Outcome::Passed
}

/// The numbers of the transfers' frames that a node heard, in order.
#[derive(Default)]
struct Numbers(Vec<u32>);

impl Sink for Numbers {
    fn frame(&mut self, _: NodeId, channel: Channel, bytes: &[u8]) {
        assert_eq!(channel, Channel::Emulated);
        self.0.push(u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")));
    }

    fn completion(&mut self, completion: Completion) {
        panic!("nobody posted {completion:?}");
    }

    fn peer_closed(&mut self, peer: NodeId) {
        panic!("{peer} said goodbye");
    }

    fn peer_lost(&mut self, error: LrtsError) {
        panic!("{error}");
    }
}

/// As gets and puts made of messages need it: threads send under one lock, and what they send comes in the order of the lock.
pub(crate) fn frames_of_a_transfer_keep_the_order_of_all_threads(backend: &dyn Backend) -> Outcome {
    const THREADS: u32 = 4;
    const COUNT: u32 = 4_000;
    if backend.is_emulated() {
        return Outcome::Skipped("it takes these frames itself".to_owned());
    }
    let group = group!(backend, 2);
    let (sender, receiver) = (&group.nodes[0].lrts, &group.nodes[1].lrts);
    let (next, mut heard) = (Mutex::new(0_u32), Numbers::default());
    let deadline = Instant::now() + PATIENCE;
    let send = || {
        loop {
            let mut next = next.lock().expect("no other sender panicked");
            if *next == COUNT {
                return;
            }
            // Short ones and long ones, in two parts, go different ways in some backends.
            let body = vec![0; (*next as usize * 37) % 9_000];
            let frame = Frame { channel: Channel::Emulated, head: &next.to_le_bytes(), body: &body };
            let is_sent = sender.send(NodeId(1), frame).is_ok();
            *next += u32::from(is_sent);
            drop(next);
            assert!(is_sent || Instant::now() < deadline, "no room");
            // Another thread's turn.
            std::thread::yield_now();
        }
    };
    std::thread::scope(|scope| {
        (0..THREADS).for_each(|_| drop(scope.spawn(send)));
        while heard.0.len() < COUNT as usize {
            // Some backends push out what they queued when they make progress.
            let happened = sender.progress(&mut Numbers::default()) | receiver.progress(&mut heard);
            if !happened {
                std::thread::yield_now();
            }
            assert!(Instant::now() < deadline, "{} frames", heard.0.len());
        }
    });
    assert!(heard.0.is_sorted(), "frames of all threads in order");
    group.close();
    Outcome::Passed
}

pub(crate) fn a_refused_frame_leaves_no_trace(backend: &dyn Backend) -> Outcome {
    const LEN: usize = 16_384;
    const MANY: usize = 100_000;
    /// More than simulated networks have room for where there is not room without end.
    const ROOM: usize = 5_000;
    let mut group = group!(backend, 2);
    let len = LEN.min(group.nodes[0].lrts.capabilities().frame_bytes_max);
    let mut accepted = 0;
    while group.nodes[0].lrts.send(NodeId(1), Frame::runtime(&bytes(len, accepted as u8))).is_ok() {
        accepted += 1;
        if accepted == ROOM && backend.name() == "sim-modelled" {
            return Outcome::Skipped("where a model describes the network, it has room".to_owned());
        }
        assert!(accepted < MANY, "a peer that reads nothing must fill some queue");
    }
    group.send(0, 1, bytes(len, accepted as u8));
    group.until("all frames", |group| group.heard[1].frames.len() == accepted + 1);
    for (round, (_, frame)) in group.heard[1].frames.iter().enumerate() {
        assert_eq!(frame.len(), len);
        assert_pattern(frame, 0, round as u8);
    }
    group.close();
    Outcome::Passed
}
