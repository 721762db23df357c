//! Rows of messages: what is sent, by the name that sides are told, and against what.

use crate::by_hand::ByHand;
use crate::ddtbench;
use crate::row::{shapes, side, word};
use crate::shape::Shape;
use crate::subject::Subject;
use chare_benches::Comparison;
#[cfg(feature = "mpi")]
use chare_benches::launcher::MPIS;

/// Sides of ours are two processes.
const TWO: &str = "+n 2";

/// What a peer is, and its way.
pub(crate) const BY_HAND: (&str, &str) = ("by hand, nocopy", "by-hand");
const SIDE_BY_SIDE: (&str, &str) = ("as much side by side", "contiguous");

/// Short messages, which travel with the call, by a layout that does so, and by one that is told once.
const REPEATED: [(&str, &str); 3] =
    [("8 B, 512 B", "few-8-64"), ("64 B, 4 KiB", "few-64-64"), ("a list, 4 KiB", "listed-512")];

pub(crate) fn all() -> Vec<Comparison> {
    let grids = ("face y of three grids".to_owned(), "face-y+face-y+face-y".to_owned());
    let sent = shapes()
        .chain([grids])
        .flat_map(|(name, subject)| beside(&format!("send {name}"), &subject, &[BY_HAND, SIDE_BY_SIDE]));
    let repeated = REPEATED.iter().flat_map(|(name, subject)| {
        [SIDE_BY_SIDE, BY_HAND].map(|(against, way)| Comparison {
            name: word(format!("repeated {name}")),
            ours: side("send", "layout", &format!("{subject} {TWO}")),
            against,
            peer: side("send", way, &format!("{subject} {TWO}")),
        })
    });
    sent.chain(repeated).collect()
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

/// The subject of a name: a kernel of DDTBench, a shape, or several with `+` in between, each of an array of its own.
pub(crate) fn named(name: &str) -> Option<Box<dyn Subject>> {
    if let Some(kernel) = ddtbench::named(name) {
        return Some(Box::new(kernel));
    }
    let shapes = name.split('+').map(|shape| Shape::parse(shape).map(ByHand::new));
    Some(Box::new(shapes.collect::<Option<Vec<_>>>()?))
}
