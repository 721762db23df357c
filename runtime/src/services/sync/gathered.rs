//! Measurements on PE 0: what PEs have told of the balancing that is under way, the balancings that wait for its end, and the file with those
//! that are over (`+balance_dump`), a line of JSON for each.

use super::message::{MeasuredHere, Round};
use super::turns::Turns;
use crate::base::json;
use crate::model::ids::PeId;
use crate::model::loads::BalanceRecord;
use chare_lrts::clock;
use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// How many times as long as the last balancing took the next one is away that begins by itself, at the least: one that takes longer than the
/// user has thought leaves the job to itself for most of the time, and the lulls in which it can be quiet.
const REST: u32 = 10;

/// What all PEs have, for a balancing.
pub(super) struct All {
    pub(super) measured: Vec<(PeId, MeasuredHere)>,
    /// When they were asked.
    pub(super) since: Instant,
}

impl All {
    /// How long the moves of the balancing before took, on the PE where they took longest.
    pub(super) fn carrying_out(&self) -> f64 {
        self.measured.iter().map(|(_, here)| here.carrying_out).fold(0.0, f64::max)
    }
}

/// What PE 0 knows of balancings.
#[derive(Default)]
pub(super) struct Gathered {
    /// Syncs that have begun: all before this one.
    begun: u64,
    /// How many balancings the balancer has had its turn in.
    turns_taken: u64,
    /// The balancing that is under way, and those that wait.
    rounds: VecDeque<Round>,
    measured: Vec<(PeId, MeasuredHere)>,
    /// When the next balancing begins by itself, if any does.
    due: Option<Instant>,
    /// When PEs were asked for the balancing that is under way.
    since: Option<Instant>,
    /// How long the last balancing took, with the moves of the one before.
    took: Duration,
    /// Whose turn it is, if the balancer decides that itself.
    pub(super) turns: Turns,
    pub(super) dump: Dump,
}

impl Gathered {
    /// Takes note that a sync has begun; returns whether that is news.
    pub(super) fn begin(&mut self, sync: u64) -> bool {
        let is_new = sync >= self.begun;
        self.begun = self.begun.max(sync.saturating_add(1));
        is_new
    }

    /// Adds a balancing; returns whether it begins now. One that nobody waits for is left out when another one is still to begin.
    pub(super) fn add(&mut self, round: Round) -> bool {
        let is_needed = matches!(round, Round::Sync(_)) || self.rounds.len() < 2;
        if is_needed {
            if !self.rounds.is_empty() {
                chare_lrts::sometimes!("a balancing waited for the end of another");
            }
            self.rounds.push_back(round);
        }
        is_needed && self.rounds.len() == 1
    }

    /// Takes what a PE has; returns what all have, when all of so many have said it.
    pub(super) fn take(
        &mut self,
        (round, from): (Round, PeId),
        measured: MeasuredHere,
        pes: u32,
    ) -> Option<All> {
        if self.rounds.front() != Some(&round) {
            return None;
        }
        self.measured.push((from, measured));
        (self.measured.len() >= pes as usize).then(|| {
            let since = self.since.take().unwrap_or_else(clock::now);
            All { measured: std::mem::take(&mut self.measured), since }
        })
    }

    /// The number of a balancing in which the balancer has its turn.
    pub(super) fn number_turn(&mut self) -> u64 {
        self.turns_taken += 1;
        self.turns_taken - 1
    }

    /// Takes note that PEs are asked what they have.
    pub(super) fn ask(&mut self) {
        self.since = Some(clock::now());
    }

    /// Ends the balancing that is under way; returns the one that begins now.
    pub(super) fn end(&mut self) -> Option<Round> {
        self.rounds.pop_front();
        self.rounds.front().copied()
    }

    /// When the next balancing begins by itself.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Takes note how long a balancing took, with the moves of the one before.
    pub(super) fn note_took(&mut self, took: Duration) {
        self.took = took;
    }

    /// Has the next balancing begin by itself, after this time, or later if balancings take long.
    pub(super) fn start_clock(&mut self, every: Duration) {
        self.due.get_or_insert_with(|| clock::now() + every.max(self.took * REST));
    }

    /// Whether it is time for a balancing; the next one is due some time after that is over.
    pub(super) fn take_due(&mut self) -> bool {
        let is_due = self.due.is_some_and(|due| due <= clock::now());
        if is_due {
            self.due = None;
        }
        is_due
    }
}

/// The file, once something is to be written.
#[derive(Default)]
pub(super) struct Dump(Option<File>);

impl Dump {
    /// Writes a line. The first one begins the file anew.
    ///
    /// # Errors
    /// When it cannot be written, in words.
    pub(super) fn write(&mut self, path: &Path, record: &BalanceRecord) -> Result<(), String> {
        let refused = |cause: &dyn std::fmt::Display| {
            format!(
                "`+balance_dump {}` cannot be written: {cause}; name a file in a folder that is there",
                path.display()
            )
        };
        let file = match &mut self.0 {
            Some(file) => file,
            none => none.insert(File::create(path).map_err(|error| refused(&error))?),
        };
        let mut line = json::write(record).map_err(|error| refused(&error))?;
        line.push(b'\n');
        file.write_all(&line).map_err(|error| refused(&error))
    }
}
