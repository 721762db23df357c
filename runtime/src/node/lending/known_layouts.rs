//! Known layouts: long ones, which travel once to each peer and from then on by their digest.
//!
//! 1. Whoever lends memory by a long layout tells the layout the third time: to tell one takes as long as to pack it several times, and a
//!    program that makes its lists anew seldom uses one again. Which ones have come before, a table of fixed size says ([`Sightings`]). A
//!    receiver that has room for it keeps it, and says so to the owner of the memory ([`KnownLayouts::admit`]). From then on the digest is enough ([`KnownLayouts::tell`]).
//! 2. Before, until the answer is there, and for ever if there is none, what the layout selects is packed for the way, which needs no layout: so
//!    a layout is told at most once, and frames need no order.
//! 3. Nothing that is kept goes before the job ends, so no digest comes that is not known any more.
//!
//! FALCON-X remembers lists of pieces in this way, per pair of processes and buffers; here the content is the name, so nothing has to be
//! agreed upon.

use crate::model::ids::NodeId;
use crate::model::nocopy::{LentLayout, ToldLayout};
use chare_layout::Raw;
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

chare_lrts::knob! {
    /// How many layouts a node keeps, and tells; with few peers this is the bound.
    fn layouts_max() -> usize = 4096, or [1, 3];
}

/// How many indices a node keeps for its peers: 64 MiB or less.
const INDICES_MAX: u64 = 8 << 20;

/// Sets of layouts of which a node remembers how often they came: those of its peers with the same lowest bits of their fingerprints.
const SETS: usize = 256;

/// Layouts of a set; the one that has not come for the longest time goes first.
const SET_LEN: usize = 4;

/// The time at which a layout is told.
const TOLD_AT: u8 = 3;

type Digest = [u8; 16];

/// How often layouts came that were not told yet, by fingerprints of peer and layout: of as many as fit. Two of one fingerprint cost a layout
/// that is told sooner than it should.
#[derive(Default)]
struct Sightings {
    /// Those that came last, with their times, in each set the last one first.
    sets: Vec<[(u64, u8); SET_LEN]>,
    /// Those whose time has come.
    due: FxHashSet<u64>,
}

impl Sightings {
    /// Notes that a layout comes for a peer. Returns whether it is time to tell it.
    fn note(&mut self, peer: NodeId, layout: &Raw) -> bool {
        let mut hasher = FxHasher::default();
        (peer, layout.fingerprint()).hash(&mut hasher);
        let fingerprint = hasher.finish();
        if self.due.contains(&fingerprint) {
            return true;
        }
        self.sets.resize(SETS, [(0, 0); SET_LEN]);
        let set = &mut self.sets[fingerprint as usize % SETS];
        let known = set.iter().position(|seen| seen.0 == fingerprint);
        set[..=known.unwrap_or(SET_LEN - 1)].rotate_right(1);
        let times = if known.is_some() { set[0].1.saturating_add(1) } else { 1 };
        set[0] = (fingerprint, times);
        if times >= TOLD_AT && self.due.len() < layouts_max() {
            self.due.insert(fingerprint);
        }
        times >= TOLD_AT
    }
}

/// What a peer does with a layout that it was told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// Nothing that is known here.
    Once,
    Keeps,
}

/// The layouts that peers keep for a node, and those that the node keeps for them.
#[derive(Default)]
pub(crate) struct KnownLayouts {
    sightings: Mutex<Sightings>,
    told: Mutex<FxHashMap<(NodeId, Digest), Told>>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    layouts: FxHashMap<Digest, Arc<Raw>>,
    indices: u64,
}

impl KnownLayouts {
    /// A long layout as a peer is told it, or its digest. `None` if it comes for the first or the second time; the peer has been told the layout,
    /// and has not said yet that it keeps it; or there is no room for more.
    pub(crate) fn tell(&self, peer: NodeId, layout: &Arc<Raw>) -> Option<LentLayout> {
        // Before its digest is taken, which costs more than to pack what it selects.
        if !self.sightings.lock().note(peer, layout) {
            return None;
        }
        let digest = layout.digest();
        let mut known = self.told.lock();
        let len = known.len();
        match known.entry((peer, digest)) {
            Entry::Occupied(entry) => match entry.get() {
                Told::Once => None,
                Told::Keeps => Some(LentLayout::Known { digest, bytes: layout.bytes() }),
            },
            Entry::Vacant(entry) if len < layouts_max() => {
                entry.insert(Told::Once);
                Some(LentLayout::Told(ToldLayout(Arc::clone(layout))))
            }
            Entry::Vacant(_) => {
                chare_lrts::sometimes!("a layout found no room to be remembered");
                None
            }
        }
    }

    /// Notes that a peer keeps a layout that it was told.
    ///
    /// # Errors
    /// A layout that it was not told, in words.
    pub(crate) fn is_kept(&self, peer: NodeId, digest: Digest) -> Result<(), String> {
        match self.told.lock().get_mut(&(peer, digest)) {
            Some(told) => *told = Told::Keeps,
            None => return Err(format!("{peer} keeps a layout that it was not told")),
        }
        Ok(())
    }

    /// Makes a layout of what came with lent memory; one that `is_long` is kept, if there is room. If it is kept from now on, so that its digest
    /// will do, returns that, too.
    ///
    /// # Errors
    /// A digest that is not known, or of a layout that selects more or less than is said, in words.
    pub(crate) fn admit(
        &self,
        layout: &mut LentLayout,
        is_long: impl FnOnce(&Raw) -> bool,
    ) -> Result<Option<Digest>, String> {
        match layout {
            LentLayout::Told(ToldLayout(layout)) if is_long(layout) => Ok(self.keep(layout)),
            LentLayout::Told(_) => Ok(None),
            LentLayout::Known { digest, bytes } => {
                let known = self.kept.lock().layouts.get(digest).map(Arc::clone);
                let known = known.ok_or("a layout by its digest, which nobody told")?;
                if known.bytes() != *bytes {
                    return Err(format!("{bytes} bytes by a layout that selects {}", known.bytes()));
                }
                *layout = LentLayout::Told(ToldLayout(known));
                Ok(None)
            }
        }
    }

    fn keep(&self, layout: &Arc<Raw>) -> Option<Digest> {
        let indices = layout.index_count();
        let digest = layout.digest();
        let mut kept = self.kept.lock();
        let Kept { layouts, indices: all } = &mut *kept;
        let has_room = layouts.len() < layouts_max() && *all + indices <= INDICES_MAX;
        match layouts.entry(digest) {
            Entry::Occupied(_) => Some(digest),
            Entry::Vacant(entry) if has_room => {
                *all += indices;
                entry.insert(Arc::clone(layout));
                Some(digest)
            }
            Entry::Vacant(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(len: u32) -> Arc<Raw> {
        let places: Vec<i64> = (0..i64::from(len)).map(|place| place * place).collect();
        Arc::new(Raw::bytes_of(8).and_then(|double| double.indexed_block(1, &places)).expect("it fits"))
    }

    fn admit(known: &KnownLayouts, layout: &mut LentLayout) -> Result<Option<Digest>, String> {
        known.admit(layout, |layout| layout.index_count() > 32)
    }

    /// What a peer is told of a layout that has come twice before.
    fn tell(known: &KnownLayouts, peer: NodeId, layout: &Arc<Raw>) -> Option<LentLayout> {
        for _ in 1..TOLD_AT {
            known.tell(peer, layout);
        }
        known.tell(peer, layout)
    }

    #[test]
    fn a_layout_is_told_when_it_comes_the_third_time() {
        let (here, peer) = (KnownLayouts::default(), NodeId(1));
        assert!(here.tell(peer, &list(100)).is_none());
        assert!(here.tell(NodeId(2), &list(100)).is_none(), "another peer");
        assert!(here.tell(peer, &list(100)).is_none());
        assert!(matches!(here.tell(peer, &list(100)), Some(LentLayout::Told(_))), "whoever made it");
        assert!(here.tell(NodeId(2), &list(100)).is_none());
    }

    #[test]
    fn lists_that_change_leave_nothing_behind() {
        let (here, peer) = (KnownLayouts::default(), NodeId(1));
        let told = (40..5_040).filter(|len| here.tell(peer, &list(*len)).is_some()).count();
        assert_eq!((told, here.told.lock().len()), (0, 0));
        let seen = here.sightings.lock();
        assert_eq!((seen.sets.len(), seen.due.len()), (SETS, 0));
        drop(seen);
        assert!(tell(&here, peer, &list(39)).is_some(), "one that stays is told still");
    }

    #[test]
    fn layouts_that_come_in_turn_are_all_told() {
        let (here, peer) = (KnownLayouts::default(), NodeId(1));
        let turn = || (40..92).filter(|len| here.tell(peer, &list(*len)).is_some()).count();
        assert_eq!([turn(), turn(), turn()], [0, 0, 52]);
    }

    #[test]
    fn a_layout_is_told_once_and_known_when_the_peer_keeps_it() {
        let (here, there, peer) = (KnownLayouts::default(), KnownLayouts::default(), NodeId(1));
        let layout = list(100);
        let mut first = tell(&here, peer, &layout).expect("it is told");
        assert!(matches!(first, LentLayout::Told(_)));
        assert!(here.tell(peer, &layout).is_none(), "the peer has not answered");
        assert!(matches!(tell(&here, NodeId(2), &layout), Some(LentLayout::Told(_))), "another peer");
        let kept = admit(&there, &mut first).expect("a layout").expect("there is room");
        here.is_kept(peer, kept).expect("it was told");
        let mut second = here.tell(peer, &list(100)).expect("an equal one is known");
        assert!(matches!(second, LentLayout::Known { bytes: 800, .. }));
        assert_eq!(admit(&there, &mut second), Ok(None));
        let LentLayout::Told(ToldLayout(admitted)) = second else { panic!("it is a layout now") };
        assert_eq!(admitted, layout);
    }

    #[test]
    fn layouts_that_are_not_long_are_kept_by_nobody() {
        let there = KnownLayouts::default();
        let mut told = LentLayout::Told(ToldLayout(list(30)));
        assert_eq!(admit(&there, &mut told), Ok(None));
    }

    #[test]
    fn what_is_kept_has_bounds() {
        let (here, there, peer) = (KnownLayouts::default(), KnownLayouts::default(), NodeId(1));
        let mut kept = 0;
        for extra in 0..10 {
            let mut told = tell(&here, peer, &list((1 << 20) + extra)).expect("it is told");
            kept += u32::from(admit(&there, &mut told).expect("a layout").is_some());
        }
        assert_eq!(kept, 7, "8 Mi indices hold seven of a little more than 1 Mi");
        for len in 0..layouts_max() as u32 {
            let _ = tell(&here, peer, &list(40 + len));
        }
        assert!(tell(&here, peer, &list(39)).is_none(), "there is no room for more");
    }

    #[test]
    fn lies_of_peers_are_refused_in_words() {
        let known = KnownLayouts::default();
        assert!(known.is_kept(NodeId(1), [7; 16]).expect_err("nobody told it").contains("was not told"));
        let mut unknown = LentLayout::Known { digest: [7; 16], bytes: 800 };
        assert!(admit(&known, &mut unknown).expect_err("nobody told it").contains("nobody told"));
        let layout = list(100);
        let mut told = LentLayout::Told(ToldLayout(Arc::clone(&layout)));
        let digest = admit(&known, &mut told).expect("a layout").expect("there is room");
        let mut longer = LentLayout::Known { digest, bytes: 801 };
        assert!(admit(&known, &mut longer).expect_err("it selects 800").contains("801 bytes"));
    }
}
