//! Kept layouts: the receiver's side of long ones that peers tell: who has told each, and whether messages that name it may still come.
//!
//! [`known_layouts`](super::known_layouts) has the rules.

use super::told_layouts::{AllNews, Digest, layouts_max};
use crate::base::last_uses::LastUses;
use crate::model::envelope::frame::LayoutNews;
use crate::model::ids::NodeId;
use chare_layout::Raw;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// How many indices a node keeps for its peers: 64 MiB or less.
pub(super) const INDICES_MAX: u64 = 8 << 20;

/// The layouts that a node keeps for its peers.
#[derive(Default)]
pub(super) struct KeptLayouts {
    pub(super) layouts: FxHashMap<Digest, Kept>,
    pub(super) indices: u64,
    pub(super) last_uses: LastUses<Digest>,
}

pub(super) struct Kept {
    layout: Arc<Raw>,
    last_use: u64,
    /// Whether its tellers have been asked to let go of it.
    is_unwanted: bool,
    /// Mostly one.
    tellers: SmallVec<[Teller; 1]>,
}

/// A peer that may say a layout's digest.
struct Teller {
    peer: NodeId,
    /// How often it has heard that the layout is kept, and not let go of it.
    holds: u64,
    /// The messages with the digest that have come, less those that it said when it let go.
    ahead: i64,
}

impl KeptLayouts {
    /// Keeps a layout that a peer has told, if there is room. Returns what the peer, and those whose layouts are in the way, are to hear.
    pub(super) fn keep(&mut self, peer: NodeId, layout: &Arc<Raw>) -> AllNews {
        let (indices, digest) = (layout.index_count(), layout.digest());
        if let Some(kept) = self.layouts.get_mut(&digest) {
            self.last_uses.renew(&mut kept.last_use);
            match kept.tellers.iter_mut().find(|teller| teller.peer == peer) {
                Some(teller) => teller.holds += 1,
                None => kept.tellers.push(Teller { peer, holds: 1, ahead: 0 }),
            }
            return smallvec![(peer, digest, LayoutNews::Kept)];
        }
        if self.layouts.len() < layouts_max() && self.indices + indices <= INDICES_MAX {
            let last_use = self.last_uses.begin(digest);
            let tellers = smallvec![Teller { peer, holds: 1, ahead: 0 }];
            let kept = Kept { layout: Arc::clone(layout), last_use, is_unwanted: false, tellers };
            self.layouts.insert(digest, kept);
            self.indices += indices;
            return smallvec![(peer, digest, LayoutNews::Kept)];
        }
        chare_lrts::sometimes!("a layout found no room to be kept");
        let mut news = smallvec![(peer, digest, LayoutNews::Unwanted)];
        self.ask_back(indices, &mut news);
        news
    }

    /// Asks for layouts back until, with those that were asked for before, there is room for one of so many indices.
    fn ask_back(&mut self, indices: u64, news: &mut AllNews) {
        let (mut len, mut all) = (self.layouts.len(), self.indices);
        for digest in self.last_uses.oldest_first() {
            if len < layouts_max() && all + indices <= INDICES_MAX {
                return;
            }
            let Some(kept) = self.layouts.get_mut(digest) else { continue };
            (len, all) = (len - 1, all - kept.layout.index_count());
            if !std::mem::replace(&mut kept.is_unwanted, true) {
                news.extend(kept.tellers.iter().map(|teller| (teller.peer, *digest, LayoutNews::Unwanted)));
            }
        }
    }

    /// The layout of this digest for a message of `peer`, if that has told it.
    pub(super) fn use_by(&mut self, peer: NodeId, digest: Digest) -> Option<Arc<Raw>> {
        let kept = self.layouts.get_mut(&digest)?;
        let place = kept.tellers.iter().position(|teller| teller.peer == peer)?;
        let teller = &mut kept.tellers[place];
        teller.ahead = teller.ahead.checked_add(1)?;
        self.last_uses.renew(&mut kept.last_use);
        let layout = Arc::clone(&kept.layout);
        self.free_if_done(digest, place);
        Some(layout)
    }

    /// Notes that a peer lets go of a layout, whose digest stands in so many of its messages.
    ///
    /// # Errors
    /// A layout that the peer did not tell, or did not use as often, in words.
    pub(super) fn let_go(&mut self, peer: NodeId, digest: Digest, uses: u64) -> Result<(), String> {
        let untold = || format!("{peer} lets go of a layout that it has not told");
        let kept = self.layouts.get_mut(&digest).ok_or_else(untold)?;
        let place = kept.tellers.iter().position(|teller| teller.peer == peer).ok_or_else(untold)?;
        let teller = &mut kept.tellers[place];
        let ahead = i64::try_from(uses).ok().and_then(|uses| teller.ahead.checked_sub(uses));
        let (holds, ahead) = teller.holds.checked_sub(1).zip(ahead).ok_or_else(untold)?;
        (teller.holds, teller.ahead) = (holds, ahead);
        if holds == 0 && ahead > 0 {
            return Err(format!("{peer} said a layout {ahead} times more often than it knows"));
        }
        self.free_if_done(digest, place);
        Ok(())
    }

    /// Frees a layout whose last teller has let go of it, and whose messages have all come.
    fn free_if_done(&mut self, digest: Digest, place: usize) {
        let Some(kept) = self.layouts.get_mut(&digest) else { return };
        if (kept.tellers[place].holds, kept.tellers[place].ahead) != (0, 0) {
            return;
        }
        kept.tellers.swap_remove(place);
        if kept.tellers.is_empty() {
            self.last_uses.end(kept.last_use);
            self.indices -= kept.layout.index_count();
            self.layouts.remove(&digest);
        }
    }
}
