//! Lists of pieces that travel in the place of layouts: the schemes of FALCON-X, rebuilt, and the ways of reading another process's
//! memory piece by piece.
//!
//! FALCON-X (Hashmi and others, "FALCON-X: Zero-copy MPI derived datatype processing on modern CPU and GPU architectures", 2020) has the
//! receiver copy piece by piece out of the sender's memory, and the sender tell which pieces. Three schemes:
//!
//! 1. *naive*: each message has the list of all pieces, an address and a length for each;
//! 2. *pipelined*: the list travels in chunks, and the receiver copies those that it has while the sender writes the next;
//! 3. *memoised*: a list is told once, and known by its digest from then on; messages have the buffer's address.
//!
//! The pieces of a datatype are listed once beforehand on either side, as MPIs do when it is committed; a message adds the buffer's address
//! to each. The receiver reads a list where the sender wrote it. It copies out of a mapping of the sender's memory, which it made
//! before, or has the kernel copy (`process_vm_readv`), with as many pieces a call as it takes.

mod kernel;
mod player;
pub(crate) mod rows;
mod table;

use crate::samples::BATCHES;
use crate::shape::Shape;
use chare_benches::{Batches, code_of};
use clap::ValueEnum;
use player::{Copier, Play, Scheme, Target};
use std::io;
use std::process::ExitCode;

/// Plays a side: scheme, copier and target (`naive,vectors,placed`), and which shape.
pub(crate) fn play(ways: &str, shape: &str) -> Option<ExitCode> {
    let mut ways = ways.split(',');
    let scheme = Scheme::from_str(ways.next()?, false).ok()?;
    let copier = Copier::from_str(ways.next()?, false).ok()?;
    let target = Target::from_str(ways.next()?, false).ok()?;
    let laid_out = Shape::parse(shape)?.layout();
    Some(match laid_out {
        Ok(layout) => {
            let play = Play { shape: shape.to_owned(), scheme, copier, target };
            player::play(play, batches(copier, layout.run_count(), layout.bytes()))
        }
        Err(error) => code_of(Err(io::Error::other(error))),
    })
}

/// As many messages as take some milliseconds: an even number, there and back.
fn batches(copier: Copier, runs: u64, payload: u64) -> Batches {
    let by_bytes = (16 << 20) / payload;
    // A quarter of a microsecond each.
    let by_vectors = if copier == Copier::Vectors { (64 << 10) / runs } else { by_bytes };
    Batches { operations: by_bytes.min(by_vectors).clamp(2, 200) & !1, count: BATCHES }
}
