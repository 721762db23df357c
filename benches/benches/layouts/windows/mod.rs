//! Windows of messages of what a layout selects: many under way at once between two processes of one host, one way or both ways, as the
//! bandwidth tests of MPIs have them.
//!
//! A side sends a window of messages out of one array, each to an array of its own at the other end, and the next one when all of them have
//! landed. At the end each side looks whether what landed is where it belongs, and nothing beside it.

#[cfg(feature = "mpi")]
mod mpi;
mod player;

use crate::messages::rows::named;
use crate::row::{side, word};
use crate::samples::BATCHES;
use crate::subject::Array;
use chare_benches::Comparison;
#[cfg(feature = "mpi")]
use chare_benches::launcher::{MPIS, Mpi};
use chare_benches::{Batches, code_of};
use clap::ValueEnum;
use player::{Direction, WINDOW};
use std::io;
use std::process::ExitCode;

/// What is sent, by the name that sides are told.
const SUBJECTS: [(&str, &str); 5] = [
    ("64 B, 4 KiB", "few-64-64"),
    ("vector 8 B", "vector-8"),
    ("vector 64 B", "vector-64"),
    ("vector 1 KiB", "vector-1024"),
    ("vector 64 KiB", "vector-65536"),
];

/// Rows of both directions.
pub(crate) fn all() -> Vec<Comparison> {
    let mut rows = Vec::new();
    for (direction, said) in [("one", "window"), ("both", "windows both ways")] {
        for (name, subject) in SUBJECTS {
            let name = word(format!("{said} {name}"));
            let ours = side("window", "ours", &format!("{subject} {direction} +n 2"));
            #[cfg(feature = "mpi")]
            rows.extend(MPIS.map(|mpi| {
                let peer = side("window", mpi.word, &format!("{subject} {direction}"));
                Comparison { name, ours, against: mpi.name, peer }
            }));
            let by_hand = side("window", "by-hand", &format!("{subject} {direction} +n 2"));
            rows.push(Comparison { name, ours, against: "packed by hand", peer: by_hand });
        }
    }
    rows
}

/// Plays a side.
pub(crate) fn play(way: &str, subject: &str, direction: &str) -> Option<ExitCode> {
    let direction = Direction::from_str(direction, false).ok()?;
    let arrays = match named(subject)?.arrays() {
        Ok(arrays) => arrays,
        Err(error) => return Some(code_of(Err(io::Error::other(error)))),
    };
    #[cfg(feature = "mpi")]
    if let Some(mpi) = Mpi::named(way) {
        return Some(mpi::play(mpi, subject, direction, batches(&arrays)));
    }
    let way = player::Way::from_str(way, false).ok()?;
    Some(player::play(player::Play { subject: subject.to_owned(), way, direction }, batches(&arrays)))
}

/// As many messages as take some milliseconds, in whole windows.
fn batches(arrays: &[Array]) -> Batches {
    let payload: u64 = arrays.iter().map(|array| array.payload() as u64).sum();
    let window = WINDOW as u64;
    Batches { operations: ((64 << 20) / payload / window).clamp(1, 250) * window, count: BATCHES }
}
