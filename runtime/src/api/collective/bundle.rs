//! Bundles of an exchange: what the members of one host have for those of another, in one message.
//!
//! What is sent is put side by side by the leader that sends it, because a message to another host is, in the end.

use crate::model::nocopy::ReceivedView;
use chare_layout::RawPartition;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Who gets what a member offers in a round.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Share {
    /// Each member its part.
    Each(RawPartition),
    /// All members get all of it.
    All,
    /// All members see all of it.
    See,
    /// This one gets all of it.
    One(u64),
}

/// Whom a piece of a bundle is for, among the members of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Whom {
    One(u64),
    All,
    See,
}

/// A piece of a bundle, behind the pieces before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Piece {
    pub(super) from: u64,
    pub(super) to: Whom,
    pub(super) bytes: u64,
}

/// A member's number, and what it offers to whom.
pub(super) type Offer = (u64, Share, ReceivedView<u8>);

impl Share {
    /// What a member gets of an offer, and how; `None`: nothing.
    ///
    /// # Panics
    /// If the offer has no such part.
    pub(super) fn part_for(&self, to: u64, offered: &ReceivedView<u8>) -> Option<(Whom, ReceivedView<u8>)> {
        match self {
            Self::Each(partition) => {
                let part = partition.part(to);
                let part = part.unwrap_or_else(|| panic!("an exchange has no part for member {to}"));
                let part =
                    offered.only(part).unwrap_or_else(|error| panic!("a part of an exchange: {error}"));
                Some((Whom::One(to), part))
            }
            Self::All => Some((Whom::All, offered.clone())),
            Self::See => Some((Whom::See, offered.clone())),
            Self::One(one) => (*one == to).then(|| (Whom::One(to), offered.clone())),
        }
    }
}

/// Offers of the members of a leader's host, by round.
#[derive(Default)]
pub(super) struct Bundles(FxHashMap<u64, Vec<Offer>>);

impl Bundles {
    /// Adds an offer. Returns whether its member had made none in that round.
    pub(super) fn add(&mut self, round: u64, offer: Offer) -> bool {
        let offers = self.0.entry(round).or_default();
        let is_first = offers.iter().all(|(from, ..)| *from != offer.0);
        offers.push(offer);
        is_first
    }

    /// The offers of a round, when there are so many.
    pub(super) fn take_if(&mut self, round: u64, members: usize) -> Option<Vec<Offer>> {
        if self.0.get(&round).is_some_and(|offers| offers.len() == members) {
            self.0.remove(&round)
        } else {
            None
        }
    }
}

/// What goes to one host in one round.
pub(super) struct Bundle {
    pub(super) pieces: Vec<Piece>,
    pub(super) all: Vec<u8>,
}

impl Bundle {
    /// The bundle for the members of a host, and the member that takes it: the one for whom all of it is, or the host's leader. `None`: there
    /// is nothing for that host.
    pub(super) fn for_host(offers: &[Offer], host: &[u64]) -> Option<(u64, Self)> {
        let mut parts = Vec::new();
        for (from, share, offered) in offers {
            // What all get goes once to each host.
            let members = if matches!(share, Share::All | Share::See) { &host[..1] } else { host };
            let of_member = |to: &u64| share.part_for(*to, offered).map(|(to, part)| (*from, to, part));
            parts.extend(members.iter().filter_map(of_member));
        }
        let (_, first, _) = parts.first()?;
        let is_for_one = parts.iter().all(|(_, to, _)| to == first);
        let taker = match first {
            Whom::One(one) if is_for_one => *one,
            _ => host[0],
        };
        let mut bundle = Self { pieces: Vec::with_capacity(parts.len()), all: Vec::new() };
        bundle.all.reserve_exact(parts.iter().map(|(.., part)| part.len()).sum());
        for (from, to, part) in parts {
            bundle.pieces.push(Piece { from, to, bytes: part.len() as u64 });
            part.rows().for_each(|row| bundle.all.extend_from_slice(row));
        }
        Some((taker, bundle))
    }
}
