//! Those who are on the path: whatever they do, frames arrive as they were sent, or the connection is lost.

#![expect(clippy::disallowed_methods, reason = "sockets are real")]

use super::relay::{Attack, Deed, Detour};
use super::{PATIENCE, meet, protected};
use crate::emulated::Emulated;
use crate::error::LrtsError;
use crate::frame::{Channel, Frame};
use crate::ids::NodeId;
use crate::lrts::{Completion, Get, Lrts, Posted, Sink};
use crate::memory::MemoryMut;
use crate::region::{Held, RegionKey, Regions};
use crate::tcp::{Protection, Tcp};
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Instant;

/// Bytes of the region that both nodes read of each other: several segments and chunks.
const REGION_BYTES: usize = 1_200_000;

#[derive(Default)]
struct Heard {
    frames: Vec<Vec<u8>>,
    completions: Vec<Completion>,
    lost: Option<LrtsError>,
}

impl Sink for Heard {
    fn frame(&mut self, _: NodeId, _: Channel, bytes: &[u8]) {
        assert!(self.lost.is_none(), "nothing is heard of a lost peer");
        self.frames.push(bytes.to_vec());
    }
    fn completion(&mut self, completion: Completion) {
        self.completions.push(completion);
    }
    fn peer_closed(&mut self, _: NodeId) {}
    fn peer_lost(&mut self, error: LrtsError) {
        assert!(self.lost.replace(error).is_none(), "a peer is lost once");
    }
}

fn pattern(seed: usize, len: usize) -> Vec<u8> {
    (0..len).map(|byte| (byte.wrapping_mul(31) ^ seed) as u8).collect()
}

/// One node: sends frames, reads the other's region, and leaves.
struct Party {
    node: usize,
    lrts: Option<Emulated<Tcp>>,
    key: RegionKey,
    heard: Heard,
    sent: usize,
    has_asked: bool,
    has_left: bool,
}

impl Party {
    fn new(node: usize, tcp: Tcp) -> Self {
        let regions = Arc::new(Regions::new(NodeId(node as u32)).expect("a board"));
        let mut memory = MemoryMut::heap_zeroed(REGION_BYTES);
        memory.as_mut_slice().copy_from_slice(&pattern(node, REGION_BYTES));
        let key = regions.register(Held::Source(memory.freeze())).expect("a slot");
        let lrts = Some(Emulated::new(tcp, regions, 2));
        Self { node, lrts, key, heard: Heard::default(), sent: 0, has_asked: false, has_left: false }
    }

    /// Goes on as far as it can without the other.
    fn step(&mut self, frames: &[Vec<u8>], key: RegionKey) {
        let Some(lrts) = &self.lrts else { return };
        let peer = NodeId(1 - self.node as u32);
        let is_lost = self.heard.lost.is_some();
        while let Some(frame) = frames.get(self.sent) {
            if lrts.send(peer, Frame::runtime(frame)).is_err() {
                break;
            }
            self.sent += 1;
            if self.sent > frames.len() / 2 && !self.has_asked {
                let into = MemoryMut::heap_zeroed(REGION_BYTES);
                let get = Get { key, offset: 0, into, len: REGION_BYTES, token: 0 };
                match lrts.get(get).expect("room") {
                    Posted::Pending => {}
                    Posted::Done(completion) => self.heard.completions.push(completion),
                }
                self.has_asked = true;
            }
        }
        lrts.progress(&mut self.heard);
        let is_done = self.sent == frames.len()
            && !self.heard.completions.is_empty()
            && self.heard.frames.len() == frames.len();
        if (is_done || is_lost) && !std::mem::replace(&mut self.has_left, true) {
            lrts.shutdown();
        }
        if self.has_left && lrts.is_closed() {
            self.lrts = None;
        }
    }

    /// What it heard is what was sent, as far as it goes, and a get that is over has right bytes or an error.
    fn assert_right(&self, frames: &[Vec<u8>]) {
        assert!(self.heard.frames.len() <= frames.len(), "more than was sent");
        assert!(self.heard.frames.iter().zip(frames).all(|(heard, sent)| heard == sent), "another frame");
        for Completion { result, memory, .. } in &self.heard.completions {
            let right = || {
                memory
                    .as_ref()
                    .is_some_and(|memory| memory.as_slice() == pattern(1 - self.node, REGION_BYTES))
            };
            assert!(result.is_err() || right(), "wrong bytes");
        }
    }
}

/// Lets two nodes talk while somebody is on their path; returns how each lost the other, if it did.
fn talk(protection: Protection, attack: &Attack, lens: &[usize]) -> [Option<String>; 2] {
    let wrap = |local| Detour { local, attack: attack.clone() };
    let nodes = meet(wrap, [protected(protection), protected(protection)]);
    let mut node = 0..;
    let mut parties = nodes.map(|tcp| Party::new(node.next().expect("numbers"), tcp.expect("they meet")));
    let frames: Vec<_> = lens.iter().enumerate().map(|(index, len)| pattern(index, *len)).collect();
    let [one, two] = [parties[0].key, parties[1].key];
    let deadline = Instant::now() + PATIENCE;
    while parties.iter().any(|party| party.lrts.is_some()) {
        parties[0].step(&frames, two);
        parties[1].step(&frames, one);
        assert!(Instant::now() < deadline, "{attack:?} made them wait for ever");
    }
    parties.map(|party| {
        party.assert_right(&frames);
        party.heard.lost.map(|error| error.to_string())
    })
}

fn lens() -> impl Strategy<Value = Vec<usize>> {
    let len =
        prop_oneof![0..60_usize, 1_000..1_100_usize, 60_000..70_000_usize, Just(300_000), Just(1 << 20)];
    proptest::collection::vec(len, 1..12)
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        any::<usize>().prop_map(Deed::Flip),
        // Among the first bytes, where lengths are.
        (0..8 * 53_usize).prop_map(Deed::Flip),
        Just(Deed::Repeat),
        Just(Deed::Drop),
        Just(Deed::Swap),
        proptest::collection::vec(any::<u8>(), 1..200).prop_map(Deed::Inject),
        any::<usize>().prop_map(Deed::Cut),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn nothing_but_a_loss_comes_of_it(
        seals: bool,
        deed in deed(),
        lens in lens(),
        frame in 0..12_usize,
        victim in 0..2_u32,
    ) {
        let protection = if seals { Protection::Seals } else { Protection::Tags };
        // What is sent by each: the frames, a question and three chunks, the last word.
        let attack = Attack { deed, frame: frame.min(lens.len()), victim: NodeId(victim) };
        let lost = talk(protection, &attack, &lens);
        let told = lost[victim as usize].as_ref().expect("its victim hears of it");
        let cause = match attack.deed {
            Deed::Cut(_) => "was lost",
            _ => "changed on the way or forged",
        };
        prop_assert!(told.contains(cause), "{}", told);
        prop_assert!(told.contains(&format!("node {}", 1 - victim)), "{}", told);
    }
}

#[test]
fn old_frames_are_no_new_ones() {
    for protection in [Protection::Tags, Protection::Seals] {
        let attack = Attack { deed: Deed::Recall, frame: 3, victim: NodeId(0) };
        let lost = talk(protection, &attack, &[8; 6]);
        assert!(lost[0].as_ref().is_some_and(|told| told.contains("forged")), "{lost:?}");
    }
}

#[test]
fn who_only_passes_on_is_not_noticed() {
    for protection in [Protection::Tags, Protection::Seals] {
        let attack = Attack { deed: Deed::Drop, frame: usize::MAX, victim: NodeId(0) };
        assert_eq!(talk(protection, &attack, &[0, 1, 8, 5_000, 1 << 20, 200_000]), [None, None]);
    }
}
