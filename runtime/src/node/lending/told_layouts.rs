//! Told layouts: the sender's side of long ones that peers keep: which layouts come often enough to be told, which of them a peer keeps, and
//! how many messages have said the digest of each; and the news of layouts between peers, with the bound of those that they are about.
//!
//! [`known_layouts`](super::known_layouts) has the rules.

use crate::base::last_uses::LastUses;
use crate::model::envelope::frame::LayoutNews;
use crate::model::ids::NodeId;
use chare_layout::Raw;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

chare_lrts::knob! {
    /// How many layouts a node keeps, and tells.
    pub(super) fn layouts_max() -> usize = 4096, or [1, 3];
}

/// The name of a layout, which follows from its content.
pub(crate) type Digest = [u8; 16];

/// News of a layout, and the peer that is to hear them.
pub(crate) type News = (NodeId, Digest, LayoutNews);

/// All news of one message: mostly none, or one.
pub(crate) type AllNews = SmallVec<[News; 1]>;

/// The time at which a layout is told.
pub(super) const TOLD_AT: u8 = 3;

/// Sets of layouts of which a node remembers how often they came: those of its peers with the same lowest bits of their fingerprints.
const SETS: usize = 256;

/// Layouts of a set; the one that has not come for the longest time goes first.
const SET_LEN: usize = 4;

/// A layout as it comes for a peer, by the fingerprints of both.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Coming(u64);

impl Coming {
    pub(super) fn of(peer: NodeId, layout: &Raw) -> Self {
        let mut hasher = FxHasher::default();
        (peer, layout.fingerprint()).hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// What a message says of a layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Saying {
    /// Nothing: the peer has not said yet that it keeps the layout.
    Nothing,
    Layout,
    Digest,
}

/// What is known of a layout that a peer was told.
struct Told {
    coming: Coming,
    last_use: u64,
    /// How many messages have said its digest; none before the peer keeps it.
    uses: Option<u64>,
}

/// The layouts that peers were told last. Two of one fingerprint cost a layout that is told sooner than it should.
#[derive(Default)]
pub(super) struct ToldLayouts {
    /// Those that came last and were not told, with how often they came, in each set the last one first.
    sets: Vec<[(u64, u8); SET_LEN]>,
    /// Those that are told.
    due: FxHashSet<Coming>,
    told: FxHashMap<(NodeId, Digest), Told>,
    last_uses: LastUses<(NodeId, Digest)>,
}

impl ToldLayouts {
    /// Notes that a layout comes. Returns whether it is told, or is to be now.
    pub(super) fn is_due(&mut self, coming: Coming) -> bool {
        if self.due.contains(&coming) {
            return true;
        }
        self.sets.resize(SETS, [(0, 0); SET_LEN]);
        let set = &mut self.sets[coming.0 as usize % SETS];
        let known = set.iter().position(|seen| seen.0 == coming.0);
        set[..=known.unwrap_or(SET_LEN - 1)].rotate_right(1);
        let times = if known.is_some() { set[0].1 + 1 } else { 1 };
        let is_due = times >= TOLD_AT;
        set[0] = if is_due { (0, 0) } else { (coming.0, times) };
        is_due
    }

    /// Says what a message to `peer` is to say of a layout that is due, and the news for the peer of one that makes room for it.
    pub(super) fn say(&mut self, peer: NodeId, digest: Digest, coming: Coming) -> (Saying, Option<News>) {
        self.due.insert(coming);
        if let Some(told) = self.told.get_mut(&(peer, digest)) {
            self.last_uses.renew(&mut told.last_use);
            return match &mut told.uses {
                Some(uses) => {
                    *uses += 1;
                    (Saying::Digest, None)
                }
                None => (Saying::Nothing, None),
            };
        }
        let oldest = self.last_uses.oldest_first().next().copied();
        let forgotten = oldest
            .filter(|_| self.told.len() >= layouts_max())
            .and_then(|(peer, digest)| self.forget(peer, digest));
        let last_use = self.last_uses.begin((peer, digest));
        // What makes room may have had this fingerprint.
        self.due.insert(coming);
        self.told.insert((peer, digest), Told { coming, last_use, uses: None });
        (Saying::Layout, forgotten)
    }

    /// Takes back what was to be said in a message that says nothing of the layout after all.
    pub(super) fn take_back(&mut self, peer: NodeId, digest: Digest) {
        match self.told.get_mut(&(peer, digest)).map(|told| &mut told.uses) {
            Some(Some(uses)) => *uses = uses.saturating_sub(1),
            // There is no news for a peer that has not kept it.
            Some(None) => _ = self.forget(peer, digest),
            None => {}
        }
    }

    /// Notes that a peer keeps a layout. Returns the answer, if that is of no use: the layout went before, or was told again meanwhile.
    pub(super) fn is_kept(&mut self, peer: NodeId, digest: Digest) -> Option<News> {
        match self.told.get_mut(&(peer, digest)) {
            Some(told) if told.uses.is_none() => {
                told.uses = Some(0);
                None
            }
            _ => Some((peer, digest, LayoutNews::Forgotten { uses: 0 })),
        }
    }

    /// Lets go of a layout; it is told again when it has come as often as one that is new. Returns the news for the peer, if that keeps it.
    pub(super) fn forget(&mut self, peer: NodeId, digest: Digest) -> Option<News> {
        let Told { coming, last_use, uses } = self.told.remove(&(peer, digest))?;
        self.last_uses.end(last_use);
        self.due.remove(&coming);
        uses.map(|uses| (peer, digest, LayoutNews::Forgotten { uses }))
    }

    /// Numbers that are remembered of layouts, of all kinds.
    #[cfg(test)]
    pub(super) fn len(&self) -> [usize; 4] {
        [self.sets.len(), self.due.len(), self.told.len(), self.last_uses.oldest_first().count()]
    }
}
