//! Rows of a summary's tables: shares of time, entries, spans and counters of the program's own, messages, moves, traffic.

use crate::timeline::{Category, PeNumber};

/// Shares of time, each from 0 to 1; the rest is the scheduler's.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Share {
    /// In code of the program.
    pub program: f64,
    /// In the runtime's work on its own messages.
    pub runtime: f64,
    /// Without work.
    pub idle: f64,
}

impl Share {
    /// Neither in a span nor idle: queues, the network, what was dropped.
    pub fn rest(&self) -> f64 {
        (1.0 - self.program - self.runtime - self.idle).max(0.0)
    }

    pub(crate) fn add(&mut self, category: Category, share: f64) {
        match category {
            Category::Program => self.program += share,
            Category::Runtime => self.runtime += share,
        }
    }
}

/// One PE's time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PeRow {
    /// Its number.
    pub pe: PeNumber,
    /// Where its time went.
    pub share: Share,
    /// Spans of entries.
    pub entries: u64,
}

/// All spans of one name and kind.
#[derive(Clone, PartialEq, Debug)]
pub struct EntryRow {
    /// Chare type and entry.
    pub name: String,
    /// `entry`, `constructor`, `task` and so on.
    pub kind: String,
    /// How often it ran.
    pub calls: u64,
    /// Microseconds in it, without what ran inside.
    pub own_us: f64,
    /// Its part of the time of all PEs.
    pub share: f64,
    /// The longest of them, in microseconds, without what ran inside.
    pub longest_us: f64,
}

/// All spans of one name that the program opened itself.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnRow {
    /// The name.
    pub name: String,
    /// How many there are.
    pub spans: u64,
    /// Microseconds within them, with all that ran inside.
    pub lasted_us: f64,
    /// The longest of them, in microseconds.
    pub longest_us: f64,
}

/// What the program counted under one name on one PE.
#[derive(Clone, PartialEq, Debug)]
pub struct CounterRow {
    /// The name.
    pub name: String,
    /// Where it was counted.
    pub pe: PeNumber,
    /// How often.
    pub values: u64,
    /// The least value.
    pub least: f64,
    /// The greatest value.
    pub most: f64,
    /// The last value.
    pub last: f64,
}

/// Elements that moved from one PE to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MoveRow {
    /// The PE that they left.
    pub from: PeNumber,
    /// The PE to which they went.
    pub to: PeNumber,
    /// How many.
    pub moves: u64,
}

/// One of the longest spans.
#[derive(Clone, PartialEq, Debug)]
pub struct Longest {
    /// Chare type and entry.
    pub name: String,
    /// The chare.
    pub chare: String,
    /// Where it ran.
    pub pe: PeNumber,
    /// When, in microseconds since the timeline's begin.
    pub begun_us: f64,
    /// How long, in microseconds, without what ran inside.
    pub own_us: f64,
}

/// Spans of the program that are about as long.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Grain {
    /// The shortest, in microseconds; the longest is below twice that.
    pub from_us: f64,
    /// How many there are.
    pub calls: u64,
    /// Their time together, in microseconds.
    pub own_us: f64,
}

/// Messages from one PE to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageRow {
    /// The sender.
    pub from: PeNumber,
    /// The receiver.
    pub to: PeNumber,
    /// How many.
    pub messages: u64,
}

/// Traffic from one node to another, as the backends tell it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NetworkRow {
    /// The node from which bytes went.
    pub from: u32,
    /// The node to which they went.
    pub to: u32,
    /// Frames, each of one or more messages.
    pub frames: u64,
    /// Bytes of the frames.
    pub frame_bytes: u64,
    /// One-sided gets and puts.
    pub transfers: u64,
    /// Bytes that they moved.
    pub transfer_bytes: u64,
}
