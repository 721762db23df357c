//! Layouts: what it costs to pack, to copy from layout to layout, to send what a layout selects, and to make a layout.
//!
//! | rows | ours | against |
//! |---|---|---|
//! | `pack`, `unpack` | a buffer of some shape to its packed stream, and back | a hand-written loop; `memcpy` of as many bytes |
//! | `pass` | one planned pass from shape to shape | `pack` and `unpack` through a stream; two hand-written loops |
//! | `make`, `compare`, `digest` | values of layouts | the least that the same takes without them |
//! | `send` | one way of a ping-pong between two processes, by layouts on both sides | the same packed and unpacked by hand around a nocopy argument; as many bytes side by side |
//! | `falcon` | the same | lists of pieces in the place of layouts, as FALCON-X has them: `lists/mod.rs` |
//! | `ddtbench` | the same, of what DDTBench's kernels select | as `send`: by hand, and by each MPI |
//! | `repeated` | short messages by a layout, over and over | as many bytes side by side; by hand |
//! | `window`, `windows` | many of those messages under way at once, one way and both ways | packed by hand; `MPI_Isend`, `MPI_Irecv` with the committed datatype |
//! | `fresh` | a strided read of a neighbour's memory in a new arena | a second one of the same memory |
//! | `private` | 1 MiB selected of private memory, side by side in the receiver's | a vector for each piece (`process_vm_readv`); everything around the pieces in one, and a pass from there |
//! | `send`, with the feature `mpi` | the same | `MPI_Send`, `MPI_Recv` with the committed datatype, under the MPI's launcher |
//! | `pack`, `unpack`, `make`, with the feature `mpi` | the same | `MPI_Pack`, `MPI_Unpack`, datatypes that are made, committed and freed |
//!
//! Vectors are every second block of so many bytes, 2 MiB in all. Faces are of the inside (128 x 128 x 128) of a grid of 130 x 130 x 130
//! doubles, the sub-block is of 64 x 64 x 64 of them. Indices are a quarter of those of 8 MiB of doubles. Fields are place and
//! identity of particles of 64 bytes.
//!
//! `cargo bench -p chare-benches --bench layouts -- --rounds 5 "pack vector"`

mod by_hand;
mod chain;
mod construction;
mod ddtbench;
mod fresh;
mod lists;
mod messages;
#[cfg(feature = "mpi")]
mod mpi;
mod passes;
mod row;
mod rows;
mod samples;
mod shape;
mod subject;
mod windows;

#[cfg(feature = "mpi")]
use chare_benches::launcher::Mpi;
use chare_benches::{Benchmark, code_of};
use shape::Shape;
use std::process::ExitCode;

fn main() -> ExitCode {
    let rows = rows::all();
    let benchmark = Benchmark::new("Layouts beside loops and copies", &rows);
    #[cfg(feature = "mpi")]
    let benchmark = benchmark.where_possible(mpi::is_possible);
    benchmark
        .concluding(|rows, ratios| {
            println!("a strided layout takes {} bytes", construction::value_bytes());
            lists::rows::conclude(rows, ratios);
            ddtbench::rows::conclude(rows, ratios);
        })
        .run(|side, _, rest| play(side, rest))
}

/// Measures as one side.
fn play(side: &str, rest: &[String]) -> Option<ExitCode> {
    let words: Vec<&str> = rest.iter().map(String::as_str).collect();
    let result = match (side, &words[..]) {
        ("send", [way, subject, ..]) => return messages::play(way, subject),
        ("window", [way, subject, direction, ..]) => return windows::play(way, subject, direction),
        ("lists", [ways, shape, ..]) => return lists::play(ways, shape),
        ("fresh", [when, stride, ..]) => return fresh::play(when, stride),
        #[cfg(feature = "mpi")]
        (what, [mpi, shape]) if Mpi::named(mpi).is_some() => {
            mpi::play(Mpi::named(mpi)?, what, Shape::parse(shape)?)
        }
        ("pack", [way, shape]) => passes::play_pack(way, Shape::parse(shape)?)?,
        ("unpack", [way, shape]) => passes::play_unpack(way, Shape::parse(shape)?)?,
        ("pass", [way, from, to]) => passes::play_pass(way, Shape::parse(from)?, Shape::parse(to)?)?,
        ("make", [what]) => construction::play(what)?,
        _ => return None,
    };
    Some(code_of(result))
}
