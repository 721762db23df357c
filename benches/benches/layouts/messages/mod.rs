//! Messages of what a layout selects: one way of a ping-pong between two processes of one host.
//!
//! Both have written their sources before the first message, and touch neither those nor what has landed until the last one: then each
//! side looks whether what landed is where it belongs, and nothing beside it.

#[cfg(feature = "mpi")]
pub(crate) mod mpi;
mod player;
pub(crate) mod rows;

use crate::samples::BATCHES;
use crate::subject::Array;
#[cfg(feature = "mpi")]
use chare_benches::launcher::Mpi;
use chare_benches::{Batches, code_of};
use clap::ValueEnum;
use rows::named;
use std::io;
use std::process::ExitCode;

/// Plays a side: how it is sent, and what.
pub(crate) fn play(way: &str, subject: &str) -> Option<ExitCode> {
    let arrays = match named(subject)?.arrays() {
        Ok(arrays) => arrays,
        Err(error) => return Some(code_of(Err(io::Error::other(error)))),
    };
    #[cfg(feature = "mpi")]
    if let Some(mpi) = Mpi::named(way) {
        return Some(mpi::play(mpi, subject, batches(&arrays)));
    }
    let way = player::Way::from_str(way, false).ok()?;
    Some(player::play(player::Play { subject: subject.to_owned(), way }, batches(&arrays)))
}

/// As many messages as take some milliseconds: an even number, there and back.
fn batches(arrays: &[Array]) -> Batches {
    let payload: u64 = arrays.iter().map(|array| array.payload() as u64).sum();
    Batches { operations: ((16 << 20) / payload).clamp(2, 4_000) & !1, count: BATCHES }
}
