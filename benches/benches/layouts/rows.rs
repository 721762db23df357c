//! Rows of the table: our side and its peer, and what is moved.

#[cfg(feature = "mpi")]
use chare_benches::launcher::MPIS;
use chare_benches::{Comparison, Side};
use std::collections::BTreeMap;

/// Bytes of the blocks of the sweep.
const BLOCKS: [(usize, &str); 10] = [
    (4, "4 B"),
    (8, "8 B"),
    (16, "16 B"),
    (64, "64 B"),
    (256, "256 B"),
    (1 << 10, "1 KiB"),
    (4 << 10, "4 KiB"),
    (64 << 10, "64 KiB"),
    (512 << 10, "512 KiB"),
    (2 << 20, "2 MiB"),
];

/// What else is packed and sent, and by which name its sides are told.
const SHAPES: [(&str, &str); 8] = [
    ("face x", "face-x"),
    ("face y", "face-y"),
    ("face z", "face-z"),
    ("sub-block", "block"),
    ("indices ascending", "ascending"),
    ("indices shuffled", "shuffled"),
    ("fields", "fields"),
    ("transposed 2 MiB", "transposed-512"),
];

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
    rows.extend(crate::lists::rows::all());
    rows.extend(crate::ddtbench::rows::all());
    rows.extend(crate::fresh::all());
    rows
}

/// Names of what is packed and sent, and by which its sides are told.
pub(crate) fn shapes() -> impl Iterator<Item = (String, String)> {
    let vectors = BLOCKS.map(|(block, name)| (format!("vector {name}"), format!("vector-{block}")));
    vectors.into_iter().chain(SHAPES.map(|(name, shape)| (name.to_owned(), shape.to_owned())))
}

/// The best peer of each name: how many times its time ours takes, and what it is.
pub(crate) fn beside_best<'a>(
    rows: impl Iterator<Item = (&'a Comparison, &'a f64)>,
) -> BTreeMap<&'static str, (f64, &'static str)> {
    let mut best = BTreeMap::new();
    for (row, ratio) in rows {
        let known = best.entry(row.name).or_insert((*ratio, row.against));
        if *ratio > known.0 {
            *known = (*ratio, row.against);
        }
    }
    best
}

/// The rows live as long as the program: what they consist of is not given back.
pub(crate) fn word(word: String) -> &'static str {
    word.leak()
}

/// The number that sides are told says nothing here: how often follows from the shape.
pub(crate) fn side(what: &str, way: &str, rest: &str) -> Side {
    let words: Vec<&'static str> = word(format!("side {what} 0 {way} {rest}")).split_whitespace().collect();
    words.leak()
}
