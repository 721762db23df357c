//! Rows of the table: our side and its peer, their path and their size.

use chare_benches::{Comparison, Side};

/// One size that fits the caches and one that does not.
const SIZES: [(usize, &str); 2] = [(64 << 10, "64 KiB"), (4 << 20, "4 MiB")];

/// As Charm++ calls them, and as our sides do.
const MODES: [(&str, &str); 3] = [("UNREG", "lazy"), ("REG", "registered"), ("PREREG", "pool")];

/// Two PEs, and what lies between them.
const PAIRS: [(&str, &str); 4] = [
    ("memcpy", "+p 2"),
    ("shm", "+n 2 +lrts shm +nocma"),
    ("cma", "+n 2 +lrts cma"),
    ("tcp", "+n 2 +lrts tcp +nolocal"),
];

/// Four nodes, and what lies between them.
const QUARTETS: [(&str, &str); 3] =
    [("shm", "+n 4 +lrts shm +nocma"), ("cma", "+n 4 +lrts cma"), ("tcp", "+n 4 +lrts tcp +nolocal")];

/// All rows.
pub(crate) fn all() -> Vec<Comparison> {
    let mut rows = Vec::new();
    for (bytes, size) in SIZES {
        for (path, layout) in PAIRS {
            pingpong(&mut rows, (bytes, size), (path, layout));
        }
        for (path, layout) in QUARTETS {
            broadcast(&mut rows, (bytes, size), (path, layout));
        }
    }
    for (path, layout) in QUARTETS {
        for (bytes, size) in [(1 << 20, "1 MiB"), (16 << 20, "16 MiB")] {
            rows.push(Comparison {
                name: name(format!("readonly {size}, {path}")),
                ours: side(format!("readonly {bytes} value {layout}")),
                against: "constructors' argument",
                peer: side(format!("readonly {bytes} argument {layout}")),
            });
        }
    }
    rows
}

fn pingpong(rows: &mut Vec<Comparison>, (bytes, size): (usize, &str), (path, layout): (&str, &str)) {
    let ways = [
        ("entry", "entry", "regular", "regular"),
        ("post", "posted", "regular with copy", "regular-copy"),
        ("get", "get", "regular with copy", "regular-copy"),
        ("put", "put", "regular with copy", "regular-copy"),
    ];
    let play = |way, mode| side(format!("pingpong {bytes} {way} {mode} {layout}"));
    for (way_name, way, against, peer) in ways {
        for (mode_name, mode) in MODES {
            rows.push(Comparison {
                name: name(format!("{way_name} {mode_name} {size}, {path}")),
                ours: play(way, mode),
                against,
                peer: play(peer, "registered"),
            });
        }
    }
}

fn broadcast(rows: &mut Vec<Comparison>, (bytes, size): (usize, &str), (path, layout): (&str, &str)) {
    let ways = [
        ("send", "send", "regular", "regular"),
        ("send+copy", "send-copy", "regular with copy", "regular-copy"),
        ("post", "post", "regular with copy", "regular-copy"),
    ];
    let play = |way, mode| side(format!("broadcast {bytes} {way} {mode} {layout}"));
    for (way_name, way, against, peer) in ways {
        for (mode_name, mode) in MODES {
            rows.push(Comparison {
                name: name(format!("all {way_name} {mode_name} {size}, {path}")),
                ours: play(way, mode),
                against,
                peer: play(peer, "registered"),
            });
        }
    }
}

/// How often an operation on so many bytes is measured by one run of a side: for some tens of milliseconds.
pub(crate) fn operations(bytes: usize) -> u32 {
    (64 << 20 >> bytes.ilog2()).clamp(10, 200)
}

/// The rows live as long as the program: what they consist of is not given back.
fn name(name: String) -> &'static str {
    name.leak()
}

fn side(words: String) -> Side {
    let words: Vec<&'static str> = name(format!("side {words}")).split(' ').collect();
    words.leak()
}
