//! Ping-pong side: one way of a buffer: `side pingpong BYTES WAY MODE`.

use crate::player::Players;
use crate::round::{Mode, Round, Way};
use chare::Program;
use chare_benches::tell;
use chare_examples::partner;
use clap::Parser;
use std::process::ExitCode;

/// Round trips that are not told: caches, page faults, paths that are set up on first use.
const WARM_UP: u32 = 10;

#[derive(Parser)]
#[command(no_binary_name = true)]
struct Options {
    #[arg(value_parser = ["side"])]
    _side: String,
    _pingpong: String,
    bytes: usize,
    #[arg(value_enum)]
    way: Way,
    #[arg(value_enum)]
    mode: Mode,
}

/// Tells the one-way time of each round trip.
pub(crate) fn measure() -> ExitCode {
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let Options { way, mode, bytes, .. } = Options::parse_from(program.arguments());
    program.run(move |_| async move {
        let iterations = WARM_UP + crate::rows::operations(bytes);
        let round = Round { way, mode, size: bytes, iterations, verify: false };
        let mut outcome = Players::create(partner()).play(round).await;
        outcome.skip(WARM_UP as usize);
        for round_trip_ns in &outcome.round_trips_ns {
            tell(*round_trip_ns as f64 / 2.0);
        }
        chare::exit(0);
    })
}
