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
//! 4. What comes from another process is an allegation: what does not fit the exchange ends the job, with the name of the member that it says
//!    it is from, and the member's node.

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
        match Filling::new(into, partition, move |filled| done.send(filled)) {
            Ok(filling) => self.start(round, deed, filling, None),
            Err(cause) => self.accuse(round, self.this_index(), &cause),
        }
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
        if !self.hosts().has(from) {
            return self.accuse(round, from, "something, and is no member");
        }
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
                Ok((Whom::See, part)) => seats.at(to).show(round, me, part),
                Ok((_, part)) => seats.at(to).land(round, word, part),
                Err(cause) => return self.accuse(round, me, &cause),
            }
        }
    }

    /// At the leader of a host: keeps what a member has for other hosts, until all members of this host have said it.
    #[entry]
    fn collect(&mut self, round: u64, from: u64, share: Share, #[nocopy] mine: ReceivedView<u8>) {
        let (mates, deed) = (self.hosts().mates.len(), share.deed());
        if !self.hosts().is_mate(from) {
            return self.accuse(round, from, "an offer for another host's leader");
        }
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
            match Bundle::for_host(&offers, others) {
                Ok(bundle) => bundle.pack(move |pieces, all| leader.spread(round, deed, pieces, all)),
                Err((from, cause)) => return self.accuse(round, from, &cause),
            }
        }
    }

    /// Hands what has come from another host to those whom it is for.
    #[entry]
    fn spread(&mut self, round: u64, deed: Deed, pieces: Vec<Piece>, #[nocopy] all: ReceivedView<u8>) {
        let seats = self.this_collection();
        let mut start = 0_i64;
        for Piece { from, to, bytes } in pieces {
            let is_ours = match to {
                Whom::One(to) => self.hosts().is_mate(to),
                Whom::All | Whom::See => true,
            };
            if !(is_ours && self.hosts().is_elsewhere(from)) {
                return self.accuse(round, from, "a piece that is not from its host to this one");
            }
            let part = Raw::bytes_of(bytes).and_then(|piece| piece.shifted(start));
            let part = part.map_err(|error| error.to_string()).and_then(|part| all.only(part));
            let part = match part {
                Ok(part) => part,
                Err(cause) => {
                    return self.accuse(round, from, &format!("{cause} as a piece of its host's bundle"));
                }
            };
            start = start.saturating_add_unsigned(bytes);
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

    /// Ends the job because of what a member has, or of what somebody says that it has.
    #[cold]
    fn accuse(&self, round: u64, member: u64, cause: &str) {
        let home = self.hosts().home_of(member).map_or_else(String::new, |home| {
            let node = Pe::current(|pe| pe.node.topology.node_of(home));
            format!(", on {home} ({node}),")
        });
        fail(format!("member {member}{home} has {cause} in round {round} of an exchange"));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::in_process::Job;
    use chare_layout::Partition;

    /// The end of a job of two processes with four seats, to one of which somebody sends what no member does.
    fn words(send: impl FnOnce(&SeatProxy) + Send + 'static) -> String {
        let outcome = Job::in_process(2, 1).run(|| async move { send(&SeatProxy::create(4)) });
        outcome.expect_err("it is refused").to_string()
    }

    #[test]
    fn what_no_member_sends_names_the_member_that_it_says_it_is_from() {
        let halves = || Partition::<u8>::blocks([8], [2]).expect("eight elements").raw().clone();
        let spread = |from, to| {
            let piece = Piece { from, to, bytes: 4 };
            words(move |seats| seats.at(2).spread(0, Deed::AllToAll, vec![piece], vec![0; 8]))
        };
        let theirs = "member 1, on PE 0 (node 0), has a piece that is not from its host to this one in round 0 of an exchange";
        for (said, expected) in [
            (spread(1, Whom::All), theirs),
            (spread(1, Whom::One(99)), theirs),
            (spread(77, Whom::See), "member 77 has a piece"),
            (
                words(|seats| seats.at(2).show(3, 77, vec![1])),
                "member 77 has something, and is no member in round 3",
            ),
            (
                words(|seats| seats.at(0).collect(0, 9, Share::All, vec![1])),
                "member 9 has an offer for another host's leader",
            ),
            (
                words(move |seats| seats.at(1).offer(0, Share::Each(halves()), vec![0; 8])),
                "member 1, on PE 0 (node 0), has no part for member 2",
            ),
            (
                words(move |seats| {
                    seats.at(3).begin(0, Deed::AllToAll, vec![0; 5].into(), halves(), Callback::ignore());
                }),
                "member 3, on PE 1 (node 1), has ",
            ),
        ] {
            assert!(said.contains("an exchange") && said.contains(expected), "{expected}: {said}");
        }
    }
}
