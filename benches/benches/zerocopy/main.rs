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
#[path = "../../../examples/pingpong/rally.rs"]
mod rally;
mod readonly;
#[path = "../../../examples/pingpong/round.rs"]
mod round;
mod rows;

use chare_benches::run;
use std::process::ExitCode;

fn main() -> ExitCode {
    run("Zero-copy beside ordinary arguments", &rows::all(), |side, _, _| match side {
        "pingpong" => Some(pingpong::measure()),
        "broadcast" => Some(broadcast::measure()),
        "readonly" => Some(readonly::measure()),
        _ => None,
    })
}
