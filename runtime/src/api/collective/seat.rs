//! Seats of an exchange: the chares that fill a member's buffers, or collect what others show it, round by round.
//!
//! ```text
//! member --offer--> its seat --land, show--> seats of its host                 parts read where they lie
//!                      |
//!                    collect --> the host's leader --spread--> leader of each other host --land, show--> seats there
//! ```
//! 1. The lowest seat of a host leads it. It has what its mates offer as views, which costs no copy where memory can be mapped; when all
//!    have offered, it sends each other host what that host's seats get, in one message. So a round costs one message for each two hosts, and
//!    every byte crosses once to each host.
//! 2. A seat whose member has not begun a round keeps the posts, or the views, of those who have.
//! 3. Whatever comes says what its member does in the round; see [`agreement`](super::agreement).

use super::agreement::{Agreement, Deed, Word, twice};
use super::bundle::{Bundle, Bundles, Piece, Share, Whom};
use super::filling::Filling;
use super::gathered::{Gathered, Showing};
use super::hosts::SeatHosts;
use crate::model::ids::Target;
use crate::model::nocopy::OutgoingMemory;
use crate::pe::Pe;
use crate::prelude::*;
use chare_layout::{Raw, RawPartition};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;

/// A round at the seat of one member.
enum Round {
    /// The member has not begun it; calls of these members wait.
    Early(Vec<(Word, Post<u8>)>),
    Begun(Filling),
}

/// The place where a member's buffers are filled.
pub(super) struct Seat {
    agreement: Agreement,
    rounds: FxHashMap<u64, Round>,
    showings: FxHashMap<u64, Showing>,
    /// At a leader: what its host's members have for others.
    bundles: Bundles,
    hosts: OnceCell<SeatHosts>,
}

#[chare(array)]
impl Seat {
    #[entry]
    pub(super) fn new() -> Self {
        Self {
            agreement: Agreement::default(),
            rounds: FxHashMap::default(),
            showings: FxHashMap::default(),
            bundles: Bundles::default(),
            hosts: OnceCell::new(),
        }
    }

    #[entry]
    pub(super) fn begin(
        &mut self,
        round: u64,
        deed: Deed,
        into: BufferMut<u8>,
        partition: RawPartition,
        done: Callback<BufferMut<u8>>,
    ) {
        self.start(round, deed, Filling::new(into, partition, move |filled| done.send(filled)), None);
    }

    /// As [`begin`](Self::begin), for a member on this PE, which may have something short for itself.
    pub(super) fn start(&mut self, round: u64, deed: Deed, filling: Filling, own: Option<&OutgoingMemory>) {
        let me = self.this_index();
        if !self.expect(round, (me, deed)) {
            return;
        }
        let before = self.rounds.insert(round, Round::Begun(filling));
        match before {
            None => {}
            Some(Round::Early(early)) => {
                for (word, part) in early {
                    self.give(round, word, part);
                }
            }
            Some(Round::Begun(_)) => fail(twice(round, (me, deed))),
        }
        if let Some(own) = own {
            self.copy_own(round, me, own);
        }
    }

    fn copy_own(&mut self, round: u64, me: u64, own: &OutgoingMemory) {
        let Some(Round::Begun(filling)) = self.rounds.get_mut(&round) else { return };
        match filling.copy(&[me], own) {
            Ok(is_full) => {
                if is_full {
                    self.end(round);
                }
            }
            Err(cause) => fail(misfit(round, me, &cause)),
        }
    }

    /// Ends a round in which the member's buffer is filled.
    fn end(&mut self, round: u64) {
        self.rounds.remove(&round);
        self.agreement.end(round);
    }

    /// Begins a round in which the member sees what all members show.
    #[entry]
    pub(super) fn watch(&mut self, round: u64, done: Callback<Gathered<u8>>) {
        let (me, members) = (self.this_index(), self.hosts().members());
        if self.expect(round, (me, Deed::ShowAll)) {
            if !self.showings.entry(round).or_default().begin(members, done) {
                fail(twice(round, (me, Deed::ShowAll)));
            }
            self.finish_showing(round);
        }
    }

    #[entry]
    pub(super) fn show(&mut self, round: u64, from: u64, #[nocopy] part: ReceivedView<u8>) {
        if self.expect(round, (from, Deed::ShowAll)) {
            if !self.showings.entry(round).or_default().add(from, part) {
                fail(twice(round, (from, Deed::ShowAll)));
            }
            self.finish_showing(round);
        }
    }

    fn finish_showing(&mut self, round: u64) {
        if self.showings.get_mut(&round).is_some_and(Showing::finish_if_complete) {
            self.showings.remove(&round);
            self.agreement.end(round);
        }
    }

    #[entry]
    pub(super) fn land(&mut self, round: u64, _word: Word, #[nocopy(post)] part: Posted<u8>) {
        if let Some(Round::Begun(filling)) = self.rounds.get_mut(&round)
            && filling.land(part)
        {
            self.end(round);
        }
    }

    #[post(land)]
    fn post_land(&mut self, round: &u64, word: &Word, part: Post<u8>) {
        if !self.expect(*round, *word) {
            return;
        }
        match self.rounds.entry(*round).or_insert_with(|| Round::Early(Vec::new())) {
            Round::Early(early) => early.push((*word, part)),
            Round::Begun(_) => self.give(*round, *word, part),
        }
    }

    fn give(&mut self, round: u64, word: Word, part: Post<u8>) {
        let Some(Round::Begun(filling)) = self.rounds.get_mut(&round) else { return };
        let (from, _) = word;
        let posted = if filling.has(from) {
            Err((twice(round, word), part))
        } else {
            filling.post(&[from], part).map_err(|(cause, part)| (misfit(round, from, &cause), part))
        };
        if let Err((cause, part)) = posted {
            // Before the post is dropped, which ends the job, too, and knows less.
            fail(cause);
            drop(part);
        }
    }

    /// Takes what the member has for others, itself among them: those of this host get it from here, the others by the leader.
    #[entry]
    pub(super) fn offer(&mut self, round: u64, share: Share, #[nocopy] mine: ReceivedView<u8>) {
        let (me, seats) = (self.this_index(), self.this_collection());
        let (hosts, word) = (self.hosts(), (me, share.deed()));
        if hosts.has_others() {
            seats.at(hosts.mates[0]).collect(round, me, share.clone(), mine.clone());
        }
        for to in hosts.mates_after(me) {
            match share.part_for(to, &mine) {
                (Whom::See, part) => seats.at(to).show(round, me, part),
                (_, part) => seats.at(to).land(round, word, part),
            }
        }
    }

    /// At the leader of a host: keeps what a member has for other hosts, until all members of this host have said it.
    #[entry]
    fn collect(&mut self, round: u64, from: u64, share: Share, #[nocopy] mine: ReceivedView<u8>) {
        let (mates, deed) = (self.hosts().mates.len(), share.deed());
        if !self.hear(round, (from, deed)) {
            return;
        }
        if !self.bundles.add(round, (from, share, mine)) {
            return fail(twice(round, (from, deed)));
        }
        let Some(offers) = self.bundles.take_if(round, mates) else { return };
        let seats = self.this_collection();
        for others in &self.hosts().others {
            let leader = seats.at(others[0]);
            Bundle::for_host(&offers, others)
                .pack(move |pieces, all| leader.spread(round, deed, pieces, all));
        }
    }

    /// Hands what has come from another host to those whom it is for.
    #[entry]
    fn spread(&mut self, round: u64, deed: Deed, pieces: Vec<Piece>, #[nocopy] all: ReceivedView<u8>) {
        let seats = self.this_collection();
        let mut start = 0;
        for Piece { from, to, bytes } in pieces {
            let part = Raw::bytes_of(bytes).and_then(|piece| piece.shifted(start));
            let part = part.and_then(|part| all.only(part));
            let part = part.unwrap_or_else(|error| panic!("what another host has in an exchange: {error}"));
            start += bytes as i64;
            let word = (from, deed);
            match to {
                Whom::One(to) => seats.at(to).land(round, word, part),
                Whom::All => {
                    self.hosts().mates.iter().for_each(|to| seats.at(*to).land(round, word, part.clone()));
                }
                Whom::See => {
                    self.hosts().mates.iter().for_each(|to| seats.at(*to).show(round, from, part.clone()));
                }
            }
        }
    }

    /// Hears a word. Returns whether the members agree so far; else the job ends.
    fn hear(&mut self, round: u64, word: Word) -> bool {
        self.agreement.hear(round, word).map_err(fail).is_ok()
    }

    /// The same for a member whose part comes with its word.
    fn expect(&mut self, round: u64, word: Word) -> bool {
        self.agreement.expect(round, word).map_err(fail).is_ok()
    }

    fn hosts(&self) -> &SeatHosts {
        self.hosts.get_or_init(|| {
            Pe::current(|pe| match pe.with_running(|identity| identity.target) {
                Target::Member(seats, _) => SeatHosts::of(pe, seats),
                Target::Chare(_) => unreachable!("a seat is one of many"),
            })
        })
    }
}

/// That what a member has does not fit, in words.
fn misfit(round: u64, member: u64, cause: &str) -> String {
    format!("member {member} has {cause} of round {round} of an exchange")
}

/// Ends the job, also where a panic would be outlived by whoever called: the other members would wait.
fn fail(cause: String) {
    Pe::current(|pe| pe.fail("an exchange".to_owned(), cause));
}
