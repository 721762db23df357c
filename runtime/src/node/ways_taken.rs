//! Ways taken: how nocopy arguments went, entry by entry, and why; what `+stats` prints of them.

use crate::model::registry::EntryRegistration;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::hint::cold_path;

/// The nocopy argument at a place among those of an entry.
#[derive(Clone, Copy)]
pub(crate) struct Argument<'a> {
    pub(crate) entry: &'a EntryRegistration,
    pub(crate) position: usize,
}

/// An argument, and which end of its way is meant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ArgumentEnd {
    chare: &'static str,
    entry: &'static str,
    position: usize,
    side: Side,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Sent,
    Received,
}

impl fmt::Display for ArgumentEnd {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { chare, entry, position, side } = self;
        let side = match side {
            Side::Sent => "sent",
            Side::Received => "received",
        };
        write!(out, "{side} {chare}::{entry}, nocopy argument {}", position + 1)
    }
}

#[derive(Clone, Copy, Default)]
struct Amount {
    count: u64,
    bytes: u64,
}

/// A way and its reason, in words.
type Words = (&'static str, &'static str);

/// Amounts by way.
type Amounts = BTreeMap<(ArgumentEnd, Words), Amount>;

fn add(amounts: &mut Amounts, way: (ArgumentEnd, Words), bytes: usize) {
    let amount = amounts.entry(way).or_default();
    amount.count += 1;
    amount.bytes += bytes as u64;
}

/// The ways of one node, if they are to be told. Any thread notes.
pub(crate) struct WaysTaken(Option<Mutex<Amounts>>);

impl WaysTaken {
    /// Notes nothing unless it `is_told`.
    pub(crate) fn new(is_told: bool) -> Self {
        Self(is_told.then(Mutex::default))
    }

    /// Notes how so many bytes left this process.
    #[inline]
    pub(crate) fn note_sent(&self, argument: Argument<'_>, words: Words, bytes: usize) {
        self.note(argument, Side::Sent, words, bytes);
    }

    /// Notes how so many bytes came to their parameter.
    #[inline]
    pub(crate) fn note_received(&self, argument: Argument<'_>, words: Words, bytes: usize) {
        self.note(argument, Side::Received, words, bytes);
    }

    #[inline]
    fn note(&self, Argument { entry, position }: Argument<'_>, side: Side, words: Words, bytes: usize) {
        if let Some(ways) = &self.0 {
            cold_path();
            let end = ArgumentEnd { chare: entry.chare, entry: entry.name, position, side };
            add(&mut ways.lock(), (end, words), bytes);
        }
    }

    /// A line for each way of each argument, which begins with `name`.
    pub(crate) fn describe(&self, name: &str) -> String {
        let Some(ways) = &self.0 else { return String::new() };
        let line = |((end, (way, reason)), Amount { count, bytes }): (&(ArgumentEnd, Words), &Amount)| {
            format!("{name} {end}: {way} {count} times ({bytes} bytes), because {reason}\n")
        };
        ways.lock().iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_counted_by_argument_and_reason_if_they_are_told() {
        let end = |position, side| ArgumentEnd { chare: "Grid", entry: "halo", position, side };
        let told = WaysTaken::new(true);
        for (way, bytes) in [
            ((end(0, Side::Sent), ("packed", "it is thin")), 100),
            ((end(0, Side::Sent), ("packed", "it is thin")), 50),
            ((end(0, Side::Sent), ("lent", "it is mapped")), 7),
            ((end(1, Side::Received), ("read in place", "it is mapped")), 8),
        ] {
            add(&mut told.0.as_ref().expect("they are told").lock(), way, bytes);
        }
        assert_eq!(WaysTaken::new(false).describe("node 3"), "");
        let lines = [
            "node 3 sent Grid::halo, nocopy argument 1: lent 1 times (7 bytes), because it is mapped",
            "node 3 sent Grid::halo, nocopy argument 1: packed 2 times (150 bytes), because it is thin",
            "node 3 received Grid::halo, nocopy argument 2: read in place 1 times (8 bytes), because it is mapped",
        ];
        assert_eq!(told.describe("node 3").lines().collect::<Vec<_>>(), lines);
    }
}
