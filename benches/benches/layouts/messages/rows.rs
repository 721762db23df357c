//! Rows of messages: what is sent, and against what.

use crate::rows::{BLOCKS, side, word};
use chare_benches::Comparison;

/// What else is sent, and by which name its sides are told.
const SUBJECTS: [(&str, &str); 9] = [
    ("face x", "face-x"),
    ("face y", "face-y"),
    ("face z", "face-z"),
    ("sub-block", "block"),
    ("indices ascending", "ascending"),
    ("indices shuffled", "shuffled"),
    ("fields", "fields"),
    ("transposed 2 MiB", "transposed-512"),
    ("face y of three grids", "face-y+face-y+face-y"),
];

/// Sides of ours are two processes.
const TWO: &str = "+n 2";

pub(crate) fn all() -> Vec<Comparison> {
    let vectors = BLOCKS.map(|(block, name)| (format!("vector {name}"), format!("vector-{block}")));
    let others = SUBJECTS.map(|(name, subject)| (name.to_owned(), subject.to_owned()));
    let mut rows = Vec::new();
    for (name, subject) in vectors.iter().chain(&others) {
        let (name, ours) =
            (word(format!("send {name}")), side("send", "layout", &format!("{subject} {TWO}")));
        #[cfg(feature = "mpi")]
        for (mpi, file) in crate::mpi::MPIS {
            rows.push(Comparison { name, ours, against: mpi, peer: side("send", file, subject) });
        }
        for (against, way) in [("by hand, nocopy", "by-hand"), ("as much side by side", "contiguous")] {
            let peer = side("send", way, &format!("{subject} {TWO}"));
            rows.push(Comparison { name, ours, against, peer });
        }
    }
    rows
}
