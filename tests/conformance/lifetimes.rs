//! Lifetimes of nodes: how they sleep, leave and die.

use crate::child::Child;
use crate::group::{Backend, Group, Heard, PATIENCE, assert_pattern};
use crate::messages::group;
use crate::runner::Outcome;
use chare_lrts::{Frame, Get, Lrts, LrtsError, NodeId, Posted, Refused, TransferError};
use rustix::event::{PollFd, PollFlags, Timespec};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub(crate) fn goodbye_with_traffic_in_flight(backend: &dyn Backend) -> Outcome {
    const LEN: usize = 4 << 20;
    let mut group = group!(backend, 2);
    let keys: Vec<_> = group.nodes.iter().map(|node| node.source(LEN, 3)).collect();
    let mut frames = 0;
    while frames < 200 && group.nodes[0].lrts.send(NodeId(1), Frame::runtime(&[1; 10_000])).is_ok() {
        frames += 1;
    }
    let mut pending = 0;
    if group.nodes[0].lrts.capabilities().get {
        for (node, key) in [(0, keys[1]), (1, keys[0]), (0, keys[1])] {
            let into = (group.nodes[node].allocate)(LEN);
            match group.nodes[node].lrts.get(Get { key, offset: 0, into, len: LEN, token: 0 }) {
                Ok(Posted::Pending) => pending += 1,
                Ok(Posted::Done(completion)) => assert_eq!(completion.result, Ok(LEN)),
                Err(Refused(_)) => panic!("there is room for one operation"),
            }
        }
    }
    group.nodes.iter().for_each(|node| node.lrts.shutdown());
    let late = group.nodes[0].lrts.send(NodeId(1), Frame::runtime(&[]));
    assert!(late.is_err(), "nothing is taken after shutdown");
    group.until("goodbyes", |group| group.nodes.iter().all(|node| node.lrts.is_closed()));
    assert_eq!(group.heard[1].frames.len(), frames, "frames accepted before the goodbye arrive");
    assert_eq!(group.heard[0].closed, [NodeId(1)]);
    assert_eq!(group.heard[1].closed, [NodeId(0)]);
    let completions: Vec<_> = group.heard.iter_mut().flat_map(|heard| heard.completions.drain(..)).collect();
    assert_eq!(completions.len(), pending, "operations end before the goodbye");
    for completion in completions {
        assert_eq!(completion.result, Ok(LEN));
        assert_pattern(completion.memory.expect("a get's memory comes back").as_slice(), 0, 3);
    }
    assert!(group.heard.iter().all(|heard| heard.lost.is_empty()));
    Outcome::Passed
}

/// Sends a frame, making progress while there is no room: a backend may have to connect first.
fn send_soon(lrts: &dyn Lrts, target: NodeId, bytes: &[u8], heard: &mut Heard) {
    let deadline = Instant::now() + PATIENCE;
    while lrts.send(target, Frame::runtime(bytes)).is_err() {
        assert!(Instant::now() < deadline, "one frame finds room");
        lrts.progress(heard);
    }
}

/// Waits for one frame, asleep whenever the backend allows it; calls `falls_asleep` when it does.
fn sleep_until_frame(lrts: &dyn Lrts, heard: &mut Heard, falls_asleep: impl Fn()) {
    let wait = Timespec { tv_sec: PATIENCE.as_secs() as i64, tv_nsec: 0 };
    loop {
        if !heard.frames.is_empty() {
            heard.frames.clear();
            return;
        }
        if lrts.arm() {
            falls_asleep();
            let event = lrts.event_fd().expect("checked before");
            let woken = rustix::event::poll(&mut [PollFd::new(&event, PollFlags::IN)], Some(&wait));
            assert_ne!(woken, Ok(0), "nobody woke the sleeper");
        }
        lrts.progress(heard);
    }
}

pub(crate) fn a_sleeper_wakes(backend: &dyn Backend) -> Outcome {
    const ROUNDS: usize = 500;
    let group = group!(backend, 2);
    if group.nodes[0].lrts.event_fd().is_none() {
        return Outcome::Skipped("it has nothing to sleep on".to_owned());
    }
    // Node 1 in the last round, which node 0 begins then: in the others a frame may come before it is allowed to.
    let sleeps = AtomicBool::new(false);
    let play = |mine: usize| {
        let lrts = &*group.nodes[mine].lrts;
        let other = NodeId(1 - mine as u32);
        let mut heard = Heard::default();
        for round in 1..=ROUNDS {
            if mine == 0 {
                let deadline = Instant::now() + PATIENCE;
                while round == ROUNDS && !sleeps.load(Ordering::Acquire) {
                    assert!(Instant::now() < deadline, "with nothing to do, `arm` must allow sleep");
                    lrts.progress(&mut heard);
                }
                send_soon(lrts, other, &[1; 100], &mut heard);
            }
            let falls_asleep = || {
                if mine == 1 && round == ROUNDS {
                    sleeps.store(true, Ordering::Release);
                }
            };
            sleep_until_frame(lrts, &mut heard, falls_asleep);
            if mine == 1 {
                send_soon(lrts, other, &[2; 100], &mut heard);
            }
        }
    };
    std::thread::scope(|scope| {
        let players = [scope.spawn(|| play(0)), scope.spawn(|| play(1))];
        players.into_iter().for_each(|player| player.join().expect("no player panicked"));
    });
    group.close();
    Outcome::Passed
}

/// The one report of a lost peer.
fn assert_lost_once(heard: &Heard, peer: NodeId) {
    let [error] = heard.lost.as_slice() else { panic!("lost once: {:?}", heard.lost) };
    assert!(matches!(error, LrtsError::PeerLost { .. }), "{error}");
    assert_eq!(error.peer(), Some(peer));
    assert!(error.to_string().contains(&peer.to_string()), "{error}");
    assert!(heard.closed.is_empty(), "it said no goodbye");
}

pub(crate) fn a_dropped_endpoint_is_lost(backend: &dyn Backend) -> Outcome {
    const LEN: usize = 4 << 20;
    if let Some(why) = backend.crash_of_survivors() {
        return Outcome::Skipped(why.to_owned());
    }
    let mut group = group!(backend, 2);
    let key = group.nodes[1].source(LEN, 3);
    let mut pending = 0;
    if group.nodes[0].lrts.capabilities().get {
        for _ in 0..3 {
            let into = (group.nodes[0].allocate)(LEN);
            let get = Get { key, offset: 0, into, len: LEN, token: 0 };
            pending += usize::from(matches!(group.nodes[0].lrts.get(get), Ok(Posted::Pending)));
        }
    }
    group.nodes.pop();
    let mut gone = Group { nodes: group.nodes, heard: group.heard };
    gone.until("the loss", |group| {
        let heard = &group.heard[0];
        !heard.lost.is_empty() && heard.completions.len() == pending
    });
    for _ in 0..100 {
        gone.step();
    }
    assert_lost_once(&gone.heard[0], NodeId(1));
    for completion in &gone.heard[0].completions {
        let memory = completion.memory.as_ref().expect("memory comes back from a lost peer");
        match &completion.result {
            // What both map outlives either.
            Ok(LEN) => assert_pattern(memory.as_slice(), 0, 3),
            result => assert_eq!(*result, Err(TransferError::PeerLost(NodeId(1)))),
        }
    }
    gone.nodes[0].lrts.shutdown();
    gone.until("the end", |group| group.nodes[0].lrts.is_closed());
    Outcome::Passed
}

pub(crate) fn a_killed_process_is_lost(backend: &dyn Backend) -> Outcome {
    const UNDER_WAY: usize = 32;
    if let Some(why) = backend.hang_of_survivors().or(backend.crash_of_survivors()) {
        return Outcome::Skipped(why.to_owned());
    }
    let mut child = match Child::start(backend) {
        Ok(child) => child,
        Err(why) => return Outcome::Skipped(why),
    };
    let capabilities = child.node.lrts.capabilities();
    if !capabilities.messages {
        return Outcome::Skipped("it carries no messages; its companion notices the death".to_owned());
    }
    let mut heard = Heard::default();
    let deadline = Instant::now() + PATIENCE;
    let (mut posted, mut over) = (0, 0);
    let mut killed = false;
    while heard.lost.is_empty() || heard.completions.len() + over < posted {
        assert!(Instant::now() < deadline, "{posted} posted, {over} done, {:?}", heard.lost);
        if capabilities.get && heard.lost.is_empty() && posted < over + heard.completions.len() + UNDER_WAY {
            let into = (child.node.allocate)(child.key.len as usize);
            let len = into.len();
            match child.node.lrts.get(Get { key: child.key, offset: 0, into, len, token: 0 }) {
                Ok(Posted::Pending) => posted += 1,
                Ok(Posted::Done(_)) => (posted, over) = (posted + 1, over + 1),
                Err(Refused(_)) => {}
            }
        }
        child.node.lrts.progress(&mut heard);
        // Frames that wait behind a slow network's transfers may be few.
        if !killed && heard.frames.len().max(heard.completions.len()) > 100 {
            child.kill();
            killed = true;
        }
    }
    assert_lost_once(&heard, NodeId(1));
    assert_eq!(heard.completions.len() + over, posted, "every operation ends once");
    // The dead take any number of frames: nobody waits for them.
    for _ in 0..10_000 {
        assert!(child.node.lrts.send(NodeId(1), Frame::runtime(&[0; 1_000])).is_ok());
    }
    child.node.lrts.shutdown();
    let mut rest = Heard::default();
    while !child.node.lrts.is_closed() {
        child.node.lrts.progress(&mut rest);
        assert!(Instant::now() < deadline, "a dead peer holds up nobody's end");
    }
    Outcome::Passed
}
