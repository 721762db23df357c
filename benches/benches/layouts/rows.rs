//! Rows of the table: our side and its peer, and what is moved.

use crate::row::{shapes, side, word};
use chare_benches::Comparison;
#[cfg(feature = "mpi")]
use chare_benches::launcher::MPIS;

/// What is packed alone.
const LARGE: (&str, &str) = ("transposed 8 MB", "transposed-1000");

/// From one shape to another.
const PASSES: [(&str, &str); 10] = [
    ("vector 8 B to 8 B", "vector-8 vector-8"),
    ("vector 8 B to sub-block", "vector-8 block"),
    ("vector 4 KiB to 4 KiB", "vector-4096 vector-4096"),
    ("face x to face x", "face-x face-x"),
    ("face x to face z", "face-x face-z"),
    ("sub-block to sub-block", "block block"),
    ("indices to vector 64 B", "shuffled vector-64"),
    ("fields to fields", "fields fields"),
    ("fields to vector 8 B", "fields vector-8"),
    ("transposed to sub-block", "transposed-512 block"),
];

/// What is made, and what does the least for that.
const CONSTRUCTION: [(&str, &str, &str, &str); 5] = [
    ("make vector", "vector", "an allocation as large", "allocation"),
    ("make face of a grid", "face", "an allocation as large", "allocation"),
    ("make list, an index", "list", "a copy of the list", "copy"),
    ("compare lists, an index", "equality", "as slices", "comparison"),
    ("digest of a list, an index", "digest", "SHA-256 of its indices", "sha256"),
];

/// What MPI makes, too, and of which shape.
#[cfg(feature = "mpi")]
const MPI_MAKES: [(&str, &str); 3] = [("vector", "vector-8"), ("face", "face-x"), ("list", "shuffled")];

/// All rows.
pub(crate) fn all() -> Vec<Comparison> {
    let mut rows = Vec::new();
    let large = (LARGE.0.to_owned(), LARGE.1.to_owned());
    for (name, shape) in &shapes().chain([large]).collect::<Vec<_>>() {
        for direction in ["pack", "unpack"] {
            let (name, ours) = (word(format!("{direction} {name}")), side(direction, "layout", shape));
            for (against, way) in [("loop", "loop"), ("memcpy of as much", "memcpy")] {
                rows.push(Comparison { name, ours, against, peer: side(direction, way, shape) });
            }
            #[cfg(feature = "mpi")]
            for mpi in MPIS {
                rows.push(Comparison {
                    name,
                    ours,
                    against: mpi.name,
                    peer: side(direction, mpi.word, shape),
                });
            }
        }
    }
    for (name, shapes) in PASSES {
        let (name, ours) = (word(format!("pass {name}")), side("pass", "plan", shapes));
        for (against, way) in [("pack, unpack", "packed"), ("two loops", "loops")] {
            rows.push(Comparison { name, ours, against, peer: side("pass", way, shapes) });
        }
    }
    for (name, what, against, peer) in CONSTRUCTION {
        let (ours, peer) = (side("make", what, ""), side("make", peer, ""));
        rows.push(Comparison { name, ours, against, peer });
        #[cfg(feature = "mpi")]
        if let Some((_, shape)) = MPI_MAKES.iter().find(|(known, _)| *known == what) {
            for mpi in MPIS {
                rows.push(Comparison { name, ours, against: mpi.name, peer: side("make", mpi.word, shape) });
            }
        }
    }
    rows.extend(crate::messages::rows::all());
    rows.extend(crate::windows::all());
    rows.extend(crate::lists::rows::all());
    rows.extend(crate::ddtbench::rows::all());
    rows.extend(crate::fresh::all());
    rows
}
