//! Zero-copy against ordinary arguments: ports of Charm++'s `benchmarks/charm++/zerocopy` as ratios.
//!
//! | rows | port of | ours | against |
//! |---|---|---|---|
//! | `entry`, `post`, `get`, `put` | the ping-pongs of `entry_method_api`, `entry_method_post_api`, `direct_api` | one way, in each mode | an ordinary argument; where the data land in the receiver's buffer, with that copy |
//! | `all` | `bcastPingAll` | a broadcast to every node until all have it, and the source is back | the same with an ordinary argument |
//! | `readonly` | `readonlyBcast` | a large readonly value, from `main` to the constructors of a group | the same bytes as the constructors' argument |
//!
//! A readonly value can only be set before the nodes have opened, so their opening is part of both sides of its rows.
//!
//! The modes are Charm++'s: UNREG (heap memory, registered when needed), REG (heap memory, registered by the call), PREREG (the
//! runtime's pool).
//!
//! `cargo bench -p chare-benches --bench zerocopy -- --rounds 5 "post PREREG"`

mod broadcast;
#[path = "../../../examples/pingpong/pattern.rs"]
mod pattern;
mod pingpong;
#[path = "../../../examples/pingpong/player.rs"]
mod player;
mod readonly;
#[path = "../../../examples/pingpong/round.rs"]
mod round;
mod rows;

use chare_benches::compare;
use clap::Parser;
use std::process::ExitCode;

/// Zero-copy beside ordinary arguments.
#[derive(Parser)]
struct Arguments {
    /// Rounds; every side runs once in each
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only rows whose name contains this
    filter: Option<String>,
    /// Accepted because `cargo bench` passes it
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "side") {
        return match words.get(1).map(String::as_str) {
            Some("pingpong") => pingpong::measure(),
            Some("broadcast") => broadcast::measure(),
            Some("readonly") => readonly::measure(),
            other => {
                eprintln!("there is no side {other:?}");
                ExitCode::from(2)
            }
        };
    }
    let Arguments { rounds, filter, .. } = Arguments::parse();
    let filter = filter.unwrap_or_default();
    let selected: Vec<_> = rows::all().into_iter().filter(|row| row.name.contains(&filter)).collect();
    match compare(&selected, rounds).map(drop) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
