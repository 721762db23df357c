//! A row's parts: its words, its sides, what most rows are about, and the best of its peers.

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
