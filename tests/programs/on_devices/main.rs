//! The program of the tests of device buffers between PEs: sends arguments from the host and from devices to parameters of both, by layouts
//! on both sides, between all pairs of PEs that are asked for, and checks each element and what senders are told.
//!
//! ```text
//! cargo run -p chare-tests --bin on_devices -- +n 2 +device software
//! ```
//! With the name of a trouble it runs into it, which must end the job.

mod case;
mod peer;
mod trouble;

use case::Case;
use chare::prelude::*;
use chare_examples::start;
use clap::Parser;
use peer::PeerProxy;
use std::process::ExitCode;
use trouble::Trouble;

/// Sends buffers between devices and hosts.
#[derive(Parser, Clone, Debug)]
#[command(name = "on_devices", no_binary_name = true)]
struct Options {
    /// Run into this trouble instead
    #[arg(value_enum)]
    trouble: Option<Trouble>,
}

/// Cases that are under way at one time.
const AT_A_TIME: usize = 12;

async fn run(options: Options) -> bool {
    let peers = PeerProxy::create();
    if let Some(trouble) = options.trouble {
        return trouble.run(&peers).await;
    }
    let last = chare::pes() - 1;
    let mut pairs = vec![(0, last), (last, 0), (last / 2, last)];
    pairs.dedup();
    let cases: Vec<(u32, u32, Case)> =
        pairs.into_iter().flat_map(|(from, to)| Case::all().map(move |case| (from, to, case))).collect();
    let mut wrong = 0;
    for some in cases.chunks(AT_A_TIME) {
        let mut answers = Vec::new();
        for (from, to, case) in some {
            let (answer, done) = chare::future::<String>();
            peers.on(PeId(*from)).send(PeId(*to), *case, done);
            answers.push(answer);
        }
        for ((from, to, case), said) in some.iter().zip(chare::wait_all(answers).await) {
            if !said.is_empty() {
                println!("PE {from} to PE {to}, {case:?}: {said}");
                wrong += 1;
            }
        }
    }
    println!("{} of {} buffers came as they should", cases.len() - wrong, cases.len());
    wrong == 0
}

fn main() -> ExitCode {
    start::check(run)
}
