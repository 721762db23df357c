//! Rows of lists: FALCON-X's schemes, and ways of reading private memory, each beside what the runtime does.

use crate::row::{beside_best, side, word};
use chare_benches::Comparison;

/// Shapes of FALCON-X's rows.
const SHAPES: [(&str, &str); 9] = [
    ("vector 4 B", "vector-4"),
    ("vector 8 B", "vector-8"),
    ("vector 16 B", "vector-16"),
    ("vector 64 B", "vector-64"),
    ("vector 256 B", "vector-256"),
    ("vector 1 KiB", "vector-1024"),
    ("vector 4 KiB", "vector-4096"),
    ("vector 64 KiB", "vector-65536"),
    ("face x", "face-x"),
];

const SCHEMES: [&str; 3] = ["naive", "pipelined", "memoised"];

/// Blocks and distances of the rows of private memory.
const BLOCKS: [(usize, &str); 6] =
    [(8, "8 B"), (32, "32 B"), (64, "64 B"), (256, "256 B"), (1 << 10, "1 KiB"), (4 << 10, "4 KiB")];
const EVERY: [(usize, &str); 4] = [(2, "2nd"), (4, "4th"), (8, "8th"), (16, "16th")];

/// The beginning of the names of those rows.
const PRIVATE: &str = "private ";

/// Share of the best way's speed below which a row is named.
const ENOUGH: f64 = 0.95;

pub(crate) fn all() -> Vec<Comparison> {
    let mut rows = Vec::new();
    for (name, shape) in SHAPES {
        let shape = format!("{shape} +n 2");
        for (path, copier, ours) in [("mapping", "mapping", "layout"), ("kernel", "vectors", "private")] {
            let name = word(format!("falcon {name}, {path}"));
            let ours = side("send", ours, &shape);
            for scheme in SCHEMES {
                let peer = side("lists", &format!("{scheme},{copier},placed"), &shape);
                rows.push(Comparison { name, ours, against: scheme, peer });
            }
        }
    }
    for (block, size) in BLOCKS {
        for (every, nth) in EVERY {
            let shape = format!("apart-{block}-{every}");
            for (path, options) in [("shm", "+n 2"), ("cma", "+n 2 +lrts cma")] {
                let name = word(format!("{PRIVATE}{size} every {nth}, {path}"));
                let ours = side("send", "gathered", &format!("{shape} {options}"));
                for copier in ["vectors", "sieve"] {
                    let peer =
                        side("lists", &format!("memoised,{copier},gathered"), &format!("{shape} +n 2"));
                    rows.push(Comparison { name, ours, against: copier, peer });
                }
            }
        }
    }
    rows
}

/// Names the rows of private memory in which the runtime's way is not as good as the better of the others.
pub(crate) fn conclude(rows: &[Comparison], ratios: &[f64]) {
    let private = rows.iter().zip(ratios).filter(|(row, _)| row.name.starts_with(PRIVATE));
    for (name, (ratio, against)) in beside_best(private) {
        let share = 1.0 / ratio;
        if share < ENOUGH {
            println!("{name}: {share:.2} of the best, {against}");
        }
    }
}
