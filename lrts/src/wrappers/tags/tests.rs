//! Whoever is between two nodes: every change of what they send each other is noticed, and nothing of it is heard.

use super::*;
use crate::error::TransferError;
use crate::lrts::{Entering, Get, Posted, Put, Refused};
use crate::memory::Memory;
use crate::region::RegionKey;
use proptest::prelude::*;
use rustix::fd::BorrowedFd;
use std::collections::VecDeque;

/// The most frames that wait on a wire.
const ROOM: usize = 4;

/// A backend that keeps what it is sent.
#[derive(Default)]
struct Wire(Mutex<VecDeque<(Channel, Vec<u8>)>>);

impl Lrts for Wire {
    fn name(&self) -> &'static str {
        "wire"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            messages: true,
            get: false,
            put: false,
            runs: false,
            view: false,
            device: false,
            immediate: false,
            frame_bytes_max: 1000,
        }
    }

    fn send(&self, _target: NodeId, frame: Frame<'_>) -> Result<(), NoRoom> {
        let mut waiting = self.0.lock();
        if waiting.len() == ROOM {
            return Err(NoRoom);
        }
        waiting.push_back((frame.channel, frame.to_vec()));
        Ok(())
    }

    fn progress(&self, sink: &mut dyn Sink) -> bool {
        let arrived = std::mem::take(&mut *self.0.lock());
        arrived.iter().for_each(|(channel, bytes)| sink.frame(NodeId(0), *channel, bytes));
        !arrived.is_empty()
    }

    fn get(&self, get: Get) -> Result<Posted, Refused<Get>> {
        Err(Refused(get))
    }

    fn put(&self, put: Put) -> Result<Posted, Refused<Put>> {
        Err(Refused(put))
    }

    fn view(
        &self,
        _key: &RegionKey,
        _offset: u64,
        _len: usize,
        _entering: Entering,
    ) -> Result<Option<Memory>, TransferError> {
        Ok(None)
    }

    fn arm(&self) -> bool {
        true
    }

    fn event_fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn shutdown(&self) {}

    fn is_closed(&self) -> bool {
        true
    }
}

/// What a node hears.
#[derive(Default)]
struct Heard {
    frames: Vec<(Channel, Vec<u8>)>,
    lost: Vec<String>,
}

impl Sink for Heard {
    fn frame(&mut self, _source: NodeId, channel: Channel, bytes: &[u8]) {
        self.frames.push((channel, bytes.to_vec()));
    }

    fn completion(&mut self, _completion: Completion) {}

    fn peer_closed(&mut self, _peer: NodeId) {}

    fn peer_lost(&mut self, error: LrtsError) {
        self.lost.push(error.to_string());
    }
}

/// Lets node 0 send frames of these lengths to node 1 over a wire that `change` changes; returns what was sent and what was heard.
fn pass(
    lengths: &[usize],
    change: impl FnOnce(&mut VecDeque<(Channel, Vec<u8>)>),
) -> (Vec<(Channel, Vec<u8>)>, Heard) {
    let (key, wire) = (JobKey::random(), Arc::new(Wire::default()));
    let [sender, receiver] =
        [0, 1].map(|node| Tags::around(Arc::clone(&wire) as Arc<dyn Lrts>, &key, NodeId(node), 2));
    let mut sent = Vec::new();
    for (place, len) in lengths.iter().enumerate() {
        let channel = if place % 2 == 0 { Channel::Runtime } else { Channel::Emulated };
        let bytes: Vec<u8> = (0..*len).map(|byte| (byte * 7 + place) as u8).collect();
        let (head, body) = bytes.split_at(len / 3);
        sender.send(NodeId(1), Frame { channel, head, body }).expect("there is room");
        sent.push((channel, bytes));
    }
    change(&mut wire.0.lock());
    let mut heard = Heard::default();
    receiver.progress(&mut heard);
    (sent, heard)
}

#[test]
fn frames_arrive_as_they_were_sent_also_after_there_was_no_room() {
    let (key, wire) = (JobKey::random(), Arc::new(Wire::default()));
    let [sender, receiver] =
        [0, 1].map(|node| Tags::around(Arc::clone(&wire) as Arc<dyn Lrts>, &key, NodeId(node), 2));
    assert_eq!(sender.capabilities().frame_bytes_max + TRAILER_BYTES, 1000);
    let mut heard = Heard::default();
    for number in 0..20_u8 {
        while sender.send(NodeId(1), Frame::runtime(&[number])).is_err() {
            receiver.progress(&mut heard);
        }
    }
    receiver.progress(&mut heard);
    let expected: Vec<_> = (0..20).map(|number| (Channel::Runtime, vec![number])).collect();
    assert_eq!((heard.frames, heard.lost), (expected, Vec::new()));
}

#[test]
fn frames_of_another_way_are_forged() {
    let key = JobKey::random();
    let [there, back] = [(); 2].map(|()| Arc::new(Wire::default()));
    let [one, other] = [(0, &there), (1, &back)]
        .map(|(node, wire)| Tags::around(Arc::clone(wire) as Arc<dyn Lrts>, &key, NodeId(node), 2));
    one.send(NodeId(1), Frame::runtime(b"to the other")).expect("there is room");
    // Its own frame comes back to it, as if the other had sent it; and what the other is sent is of a job with another key.
    let reflected = there.0.lock().clone();
    let strange = Tags::around(Arc::clone(&there) as Arc<dyn Lrts>, &JobKey::random(), NodeId(1), 2);
    let mut heard = Heard::default();
    *back.0.lock() = reflected;
    let at_one = Tags { inner: Arc::clone(&back) as Arc<dyn Lrts>, ways: one.ways };
    at_one.progress(&mut heard);
    strange.progress(&mut heard);
    assert!(heard.frames.is_empty());
    assert_eq!(heard.lost.len(), 2);
    drop(other);
}

proptest! {
    #[test]
    fn any_change_on_the_way_is_told_once_and_nothing_of_it_is_heard(
        lengths in proptest::collection::vec(0_usize..100, 1..=ROOM),
        kind in 0..6,
        place: proptest::sample::Index,
        other: proptest::sample::Index,
    ) {
        let struck = place.index(lengths.len());
        let mut is_changed = true;
        let (sent, heard) = pass(&lengths, |wire| match kind {
            0 => {
                let frame = &mut wire[struck].1;
                let bit = other.index(8 * frame.len());
                frame[bit / 8] ^= 1 << (bit % 8);
            }
            1 => drop(wire.remove(struck)),
            2 => {
                let again = wire[struck].clone();
                wire.insert(struck, again);
            }
            3 => {
                let with = other.index(wire.len());
                is_changed = wire[struck] != wire[with];
                wire.swap(struck, with);
            }
            4 => wire[struck].0 = if wire[struck].0 == Channel::Runtime { Channel::Emulated } else { Channel::Runtime },
            _ => wire.insert(struck, (Channel::Runtime, vec![7; other.index(40)])),
        });
        // What is left out at the end is noticed with the next frame.
        let is_told = is_changed && !(kind == 1 && struck + 1 == lengths.len());
        prop_assert_eq!(heard.lost.len(), usize::from(is_told));
        prop_assert!(heard.lost.iter().all(|cause| cause.contains("changed on the way or forged")));
        prop_assert!(sent.starts_with(&heard.frames), "only what was sent, and in its order");
    }
}
