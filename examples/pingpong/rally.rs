//! The rally: how far a player is in its round, and what it sees of times and memory. All players have one, wherever their buffers are.
//!
//! 1. A round is prepared by both players; then player 0 `play`s, and player 1 plays back what it has received.
//! 2. Player 0 takes the time from its play to its receipt.
//! 3. The message-driven loop is the measurement: a future per receipt would add a wake-up to each round trip.

use crate::pattern::Transfer;
use crate::round::{Mode, Outcome, Round, Way};
use chare::ArrayOptions;
use chare::prelude::*;
use chare_examples::memory::{most_resident, resident};
use std::time::Instant;

/// A player's part of it.
pub(crate) struct Rally {
    pub(crate) round: Round,
    /// What player 0 has seen so far.
    pub(crate) outcome: Outcome,
    player: u64,
    sent: u32,
    received: u32,
    begun: Instant,
    /// Memory of this process before there were buffers.
    before: u64,
    done: Callback<Outcome>,
}

impl Rally {
    /// A player of this index, before its first round.
    pub(crate) fn new(player: u64) -> Self {
        let round = Round { way: Way::Regular, mode: Mode::Lazy, size: 0, iterations: 0, verify: false };
        let (outcome, done) = (Outcome::default(), Callback::ignore());
        Self { round, outcome, player, sent: 0, received: 0, begun: chare::now(), before: resident(), done }
    }

    /// The next round, whose buffers are still to be made.
    pub(crate) fn prepare(&mut self, round: Round) {
        (self.round, self.sent, self.received) = (round, 0, 0);
    }

    /// Who hears what player 0 has seen.
    pub(crate) fn begin(&mut self, done: Callback<Outcome>) {
        self.done = done;
    }

    /// This player plays now: which transfer it is.
    pub(crate) fn play(&mut self) -> Transfer {
        self.begun = chare::now();
        let transfer = Transfer { sender: self.player, number: self.sent, size: self.round.size };
        self.sent += 1;
        transfer
    }

    /// Compares what came, if the round is to be verified.
    pub(crate) fn check(&self, bytes: &[u8]) {
        if self.round.verify {
            Transfer { sender: 1 - self.player, number: self.received, size: self.round.size }.check(bytes);
        }
    }

    /// A transfer came: whether this player plays on.
    pub(crate) fn receive(&mut self) -> bool {
        self.received += 1;
        if self.player == 0 {
            self.outcome.round_trips_ns.push(nanoseconds(self.begun));
            if self.received == self.round.iterations {
                self.outcome.grown_bytes = most_resident().saturating_sub(self.before);
                self.done.send(std::mem::take(&mut self.outcome));
                return false;
            }
        }
        true
    }
}

/// Two players: player 0 on PE 0, player 1 on `partner`.
pub(crate) fn both(partner: PeId) -> ArrayOptions<u64> {
    ArrayOptions::new(2).place_by(move |index| if index == 0 { PeId(0) } else { partner })
}

/// Plays a round from start to end: `prepare` tells both players of it, `begin` player 0.
pub(crate) async fn conduct(
    prepare: impl FnOnce(Callback<()>),
    begin: impl FnOnce(Callback<Outcome>),
) -> Outcome {
    let (both_ready, ready) = chare::future();
    prepare(ready);
    both_ready.await;
    let (outcome, done) = chare::future();
    begin(done);
    outcome.await
}

pub(crate) fn nanoseconds(since: Instant) -> u64 {
    (chare::now() - since).as_nanos() as u64
}
