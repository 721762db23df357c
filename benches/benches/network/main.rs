//! Network layer costs: frames, gets and puts, below all that makes a call.
//!
//! Frames of 8 bytes to and fro through `Lrts::send` and `Lrts::progress` alone, and gets and puts of warm buffers, beside
//! the raw limit of each path. The runtime's share is the difference between these figures and those of `call_costs`.

mod frames;
mod memory;
mod node;
mod transfers;

use chare_benches::{Batches, Comparison, Manner, Side, cache_line, code_of, echo, run, socket};
use std::io;
use std::process::ExitCode;
use transfers::Way;

/// Samples of one run of a side. A batch takes some milliseconds.
const BATCHES: u32 = 16;

const SHM: Side = &["side", "frames", "20000", "shm", "+n", "2"];
const TCP: Side = &["side", "frames", "1000", "tcp", "+n", "2"];

const CACHE_LINE: Side = &["side", "cache-line", "50000"];
const BLOCKING_SOCKET: Side = &["side", "blocking-socket", "500"];
const SPINNING_SOCKET: Side = &["side", "spinning-socket", "1000"];

/// Sides of one size: get and put over each path, and the limits.
macro_rules! of_size {
    ($operations:literal, $bytes:literal) => {
        [
            &["side", "get", $operations, "memcpy", $bytes, "+n", "2"],
            &["side", "get", $operations, "shm", $bytes, "+n", "2"],
            &["side", "put", $operations, "shm", $bytes, "+n", "2"],
            &["side", "get", $operations, "cma", $bytes, "+n", "2"],
            &["side", "get", $operations, "tcp", $bytes, "+n", "2"],
            &["side", "put", $operations, "tcp", $bytes, "+n", "2"],
            &["side", "gets", $operations, "tcp", $bytes, "+n", "2"],
            &["side", "memcpy", $operations, $bytes],
            &["side", "mapping", $operations, $bytes],
            &["side", "kernel-copy", $operations, $bytes],
            &["side", "stream", $operations, $bytes, "1"],
            &["side", "stream", $operations, $bytes, "4"],
        ]
    };
}

const KIB_64: [Side; 12] = of_size!("400", "65536");
const MIB_1: [Side; 12] = of_size!("40", "1048576");
const MIB_16: [Side; 12] = of_size!("4", "16777216");

/// Gets under way at a time in the rows that say so; the last side of each size has as many buffers.
const UNDER_WAY: usize = 4;

/// Names of the rows of one size.
macro_rules! names {
    ($size:literal) => {
        [
            concat!("get ", $size, ", memcpy"),
            concat!("get ", $size, ", shm"),
            concat!("put ", $size, ", shm"),
            concat!("get ", $size, ", cma"),
            concat!("get ", $size, ", tcp"),
            concat!("put ", $size, ", tcp"),
            concat!("get ", $size, ", tcp, 4 under way"),
        ]
    };
}

/// The rows of one size.
const fn rows(names: [&'static str; 7], sides: [Side; 12]) -> [Comparison; 7] {
    let [memcpy, shm, put, cma, tcp, put_tcp, gets, raw_memcpy, mapping, kernel, stream, into_four] = sides;
    [
        Comparison { name: names[0], ours: memcpy, against: "memcpy", peer: raw_memcpy },
        Comparison { name: names[1], ours: shm, against: "copy out of a mapping", peer: mapping },
        Comparison { name: names[2], ours: put, against: "copy out of a mapping", peer: mapping },
        Comparison { name: names[3], ours: cma, against: "process_vm_readv", peer: kernel },
        Comparison { name: names[4], ours: tcp, against: "stream", peer: stream },
        Comparison { name: names[5], ours: put_tcp, against: "stream", peer: stream },
        // As many buffers as ours has: where they exceed the cache, it costs the peer, too.
        Comparison { name: names[6], ours: gets, against: "stream into as many", peer: into_four },
    ]
}

const FRAMES: &[Comparison] = &[
    Comparison { name: "8 B frame, shm", ours: SHM, against: "shared cache line", peer: CACHE_LINE },
    Comparison { name: "8 B frame, tcp", ours: TCP, against: "blocking socket", peer: BLOCKING_SOCKET },
    Comparison { name: "8 B frame, tcp", ours: TCP, against: "spinning socket", peer: SPINNING_SOCKET },
];

/// A side, and the same with tags and sealed.
macro_rules! protected {
    ($what:literal, $operations:literal $(, $bytes:literal)?) => {
        [
            &["side", $what, $operations, "tcp" $(, $bytes)?, "+n", "2"],
            &["side", $what, $operations, "tags" $(, $bytes)?, "+n", "2"],
            &["side", $what, $operations, "seals" $(, $bytes)?, "+n", "2"],
        ]
    };
}

/// What protection costs, row by row beside the same in clear.
const PROTECTED: [(&str, &str, [Side; 3]); 6] = [
    ("8 B frame, tcp, tags", "8 B frame, tcp, sealed", protected!("frames", "1000")),
    ("get 64 KiB, tcp, tags", "get 64 KiB, tcp, sealed", protected!("get", "400", "65536")),
    ("get 1 MiB, tcp, tags", "get 1 MiB, tcp, sealed", protected!("get", "40", "1048576")),
    ("get 1 MiB, 4 under way, tags", "get 1 MiB, 4 under way, sealed", protected!("gets", "40", "1048576")),
    ("get 16 MiB, tcp, tags", "get 16 MiB, tcp, sealed", protected!("get", "4", "16777216")),
    ("get 16 MiB, 4 under way, tags", "get 16 MiB, 4 under way, sealed", protected!("gets", "4", "16777216")),
];

fn comparisons() -> Vec<Comparison> {
    let protected = PROTECTED.into_iter().flat_map(|(tags, seals, [clear, tagged, sealed])| {
        let row = |name, ours| Comparison { name, ours, against: "in clear", peer: clear };
        [row(tags, tagged), row(seals, sealed)]
    });
    let transfers =
        [rows(names!("64 KiB"), KIB_64), rows(names!("1 MiB"), MIB_1), rows(names!("16 MiB"), MIB_16)];
    FRAMES.iter().copied().chain(transfers.into_iter().flatten()).chain(protected).collect()
}

fn main() -> ExitCode {
    run("What the network layer costs, beside the raw limit of each path", &comparisons(), play)
}

/// Measures as one side; `number` is how many operations make a batch, or where to connect to.
fn play(side: &str, number: u64, rest: &[String]) -> Option<ExitCode> {
    let batches = Batches { operations: number, count: BATCHES };
    let port = || u16::try_from(number).map_err(io::Error::other);
    let result = match (side, rest) {
        ("frames", [backend, ..]) => return Some(frames::to_and_fro(batches, backend)),
        ("get" | "gets" | "put", [backend, len, ..]) => {
            let way = match side {
                "get" => Way::Get,
                "gets" => Way::Gets(UNDER_WAY),
                _ => Way::Put,
            };
            return Some(transfers::again_and_again(batches, way, backend, told(len)));
        }
        ("cache-line", _) => {
            cache_line(batches);
            Ok(())
        }
        ("memcpy", [len]) => {
            memory::memcpy(batches, told(len));
            Ok(())
        }
        ("blocking-socket", _) => socket(batches, Manner::Blocking),
        ("spinning-socket", _) => socket(batches, Manner::Spinning),
        ("mapping", [len]) => memory::mapping(batches, told(len)),
        ("kernel-copy", [len]) => memory::kernel_copy(batches, told(len)),
        ("stream", [len, buffers]) => memory::stream(batches, told(len), told(buffers)),
        ("owner", _) => usize::try_from(number).map_err(io::Error::other).and_then(memory::own),
        ("pour", _) => port().and_then(memory::pour),
        ("echo", [manner]) => port().and_then(|port| echo(port, manner)),
        _ => return None,
    };
    Some(code_of(result))
}

/// A number that this program told itself.
fn told(word: &str) -> usize {
    word.parse().expect("sides are started with numbers")
}
