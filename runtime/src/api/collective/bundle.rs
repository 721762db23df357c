//! Bundles of an exchange: what the members of one host have for those of another, in one message.
//!
//! What is sent is put side by side by the leader that sends it, because a message to another host is, in the end.

use super::agreement::Deed;
use super::gather::Gather;
use crate::model::nocopy::ReceivedView;
use crate::prelude::*;
use crate::transfer::ways;
use chare_layout::{Layout, Partition, RawPartition};
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
    /// What the member does that offers so.
    pub(super) fn deed(&self) -> Deed {
        match self {
            Self::Each(_) => Deed::AllToAll,
            Self::All => Deed::AllGather,
            Self::See => Deed::ShowAll,
        }
    }

    /// What a member gets of an offer, and how.
    ///
    /// # Errors
    /// An offer that has no such part, in words.
    pub(super) fn part_for(
        &self,
        to: u64,
        offered: &ReceivedView<u8>,
    ) -> Result<(Whom, ReceivedView<u8>), String> {
        match self {
            Self::Each(partition) => {
                let part = partition.part(to).ok_or_else(|| format!("no part for member {to}"))?;
                let part = offered.only(part).map_err(|cause| format!("{cause} as what is dealt out"))?;
                Ok((Whom::One(to), part))
            }
            Self::All => Ok((Whom::All, offered.clone())),
            Self::See => Ok((Whom::See, offered.clone())),
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

/// What goes to one host in one round, where it lies.
pub(super) struct Bundle {
    pieces: Vec<Piece>,
    parts: Vec<ReceivedView<u8>>,
}

impl Bundle {
    /// What the members of a host get.
    ///
    /// # Errors
    /// A member whose offer is no such, and why, in words.
    pub(super) fn for_host(offers: &[Offer], host: &[u64]) -> Result<Self, (u64, String)> {
        let (mut pieces, mut parts) = (Vec::new(), Vec::new());
        for (from, share, offered) in offers {
            // What all get goes once to each host.
            let members = if matches!(share, Share::All | Share::See) { &host[..1] } else { host };
            for to in members {
                let (to, part) = share.part_for(*to, offered).map_err(|cause| (*from, cause))?;
                pieces.push(Piece { from: *from, to, bytes: part.len() as u64 });
                parts.push(part);
            }
        }
        Ok(Self { pieces, parts })
    }

    /// Puts the parts side by side, and gives `send` what there is and where all of it lies: at once where that takes no longer than two
    /// pieces of a long copy. A longer bundle is gathered on this PE, so that its parts are copied in pieces, by whoever has time, and the
    /// entries of this PE run meanwhile.
    pub(super) fn pack(self, send: impl FnOnce(Vec<Piece>, BufferMut<u8>) + 'static) {
        let Self { pieces, parts } = self;
        let bytes = parts.iter().map(ReceivedView::len).sum();
        if !ways::is_long(bytes) {
            let mut all = Vec::with_capacity(bytes);
            parts.iter().flat_map(ReceivedView::rows).for_each(|row| all.extend_from_slice(row));
            return send(pieces, all.into());
        }
        let place = |start: &mut u64, piece: &Piece| {
            let place = Layout::contiguous(piece.bytes).and_then(|place| place.shifted(*start as i64));
            *start += piece.bytes;
            Some(place)
        };
        let places: Result<Vec<Layout<u8>>, _> = pieces.iter().scan(0, place).collect();
        let places = places.and_then(|places| Partition::table(bytes, &places));
        let places = places.unwrap_or_else(|error| panic!("a bundle of an exchange: {error}"));
        let packed = Callback::once(move |all| send(pieces, all));
        let gather = Gather::into(vec![0; bytes], &places, packed);
        (0..).zip(parts).for_each(|(number, part)| gather.put(number as u64, part));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::in_process::Job;
    use chare_lrts::reach::PIECE_BYTES;

    /// What has happened on a PE, in order.
    struct Watch {
        rounds: u64,
        packed: Option<BufferMut<u8>>,
    }

    #[chare]
    impl Watch {
        #[entry]
        fn new() -> Self {
            Self { rounds: 0, packed: None }
        }

        /// Packs two parts, then calls itself until they are packed.
        #[entry]
        fn pack(&mut self, #[nocopy] part: ReceivedView<u8>, done: Callback<(u64, bool)>) {
            let piece = |from| Piece { from, to: Whom::All, bytes: part.len() as u64 };
            let bundle = Bundle { pieces: vec![piece(0), piece(1)], parts: vec![part.clone(), part.clone()] };
            let me = self.this_chare();
            bundle.pack(move |pieces, all| {
                assert_eq!(pieces.len(), 2);
                me.packed(all);
            });
            self.this_chare().go_round(done);
        }

        #[entry]
        fn packed(&mut self, all: BufferMut<u8>) {
            self.packed = Some(all);
        }

        #[entry]
        fn go_round(&mut self, done: Callback<(u64, bool)>) {
            self.rounds += 1;
            match &self.packed {
                None => self.this_chare().go_round(done),
                Some(all) => {
                    let is_right = |(at, byte): (usize, &u8)| *byte == (at % (all.len() / 2) % 251) as u8;
                    done.send((self.rounds, all.iter().enumerate().all(is_right)));
                }
            }
        }
    }

    /// How often an entry of the PE ran until two parts of this length were packed.
    fn rounds(bytes: usize) -> u64 {
        let code = Job::in_process(1, 1).run(move || async move {
            let watch = WatchProxy::create();
            let (counted, done) = crate::future();
            watch.pack((0..bytes).map(|at| (at % 251) as u8).collect::<Vec<u8>>(), done);
            let (rounds, is_right) = counted.await;
            assert!(is_right);
            crate::exit(rounds.min(1000) as i32);
        });
        code.expect("the job runs") as u64
    }

    #[test]
    fn entries_run_while_a_long_bundle_is_packed() {
        let (at_once, pieces) = (rounds(1000), 2 * (16 << 20) / PIECE_BYTES as u64);
        let meanwhile = rounds(16 << 20);
        // One piece between two looks for work, whatever the order of the rest.
        assert!(meanwhile > at_once && meanwhile >= pieces / 2, "{at_once} and {meanwhile} rounds");
    }
}
