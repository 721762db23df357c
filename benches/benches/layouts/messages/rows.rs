//! Rows of messages: what is sent, and against what.

use crate::rows::{shapes, side, word};
use chare_benches::Comparison;
#[cfg(feature = "mpi")]
use chare_benches::launcher::MPIS;

/// Sides of ours are two processes.
const TWO: &str = "+n 2";

/// What a peer is, and its way.
pub(crate) const BY_HAND: (&str, &str) = ("by hand, nocopy", "by-hand");
const SIDE_BY_SIDE: (&str, &str) = ("as much side by side", "contiguous");

pub(crate) fn all() -> Vec<Comparison> {
    let grids = ("face y of three grids".to_owned(), "face-y+face-y+face-y".to_owned());
    shapes()
        .chain([grids])
        .flat_map(|(name, subject)| beside(&format!("send {name}"), &subject, &[BY_HAND, SIDE_BY_SIDE]))
        .collect()
}

/// A subject sent by layouts, against each MPI and these ways.
pub(crate) fn beside(name: &str, subject: &str, ways: &[(&'static str, &str)]) -> Vec<Comparison> {
    let (name, ours) = (word(name.to_owned()), side("send", "layout", &format!("{subject} {TWO}")));
    let row = |against, peer| Comparison { name, ours, against, peer };
    #[cfg(feature = "mpi")]
    let mpis = MPIS.map(|mpi| row(mpi.name, side("send", mpi.word, subject)));
    #[cfg(not(feature = "mpi"))]
    let mpis = [];
    let ways = ways.iter().map(|(against, way)| row(against, side("send", way, &format!("{subject} {TWO}"))));
    mpis.into_iter().chain(ways).collect()
}
