//! Start time: from the start of a program until an entry of its last PE runs.
//!
//! The other side starts as many processes that do nothing, and waits for them. The difference is the runtime's.
//! `cargo bench -p chare-benches --bench start`
//!
//! `CHARE_BENCH_BESIDE` names the same program, built otherwise, for one more row: what a feature costs that is not used.
//! `CHARE_BENCH_BESIDE="$PWD/target/start-without" cargo bench -p chare-benches --features cuda --bench start`

use chare::prelude::*;
use chare_benches::{Comparison, Side, compare, tell};
use clap::Parser;
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode};

/// Samples of one run of a side.
const STARTS: u32 = 8;

const ONE: Side = &["side", "job", "1"];
const FOUR: Side = &["side", "job", "4"];
const NOTHING: Side = &["side", "nothing", "1"];
const BESIDE: Side = &["side", "beside", "1"];
const FOUR_TIMES_NOTHING: Side = &["side", "nothing", "4"];

/// The last one needs another build of this program.
const COMPARISONS: &[Comparison] = &[
    Comparison { name: "1 process, to an entry", ours: ONE, against: "/bin/true", peer: NOTHING },
    Comparison {
        name: "4 processes, to an entry of the last",
        ours: FOUR,
        against: "/bin/true, four at once",
        peer: FOUR_TIMES_NOTHING,
    },
    Comparison { name: "1 process, as this was built", ours: ONE, against: "as the other was", peer: BESIDE },
];

/// Where that is.
const OTHER: &str = "CHARE_BENCH_BESIDE";

/// Measures the start of a job.
#[derive(Parser)]
struct Arguments {
    /// Rounds; every side runs once in each
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Accepted because `cargo bench` passes it
    #[arg(long, hide = true)]
    bench: bool,
}

/// Tells when it is reached.
struct Goal;

#[chare]
impl Goal {
    #[entry]
    fn new() -> Self {
        Self
    }

    /// `began_ns`: when the program was started, by the host's monotonic clock.
    #[entry]
    fn reach(&mut self, began_ns: u64) {
        tell((now_ns() - began_ns) as f64);
        chare::exit(0);
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["program", began_ns, ..] => return reach_goal(began_ns),
        ["side", "job", nodes] => (0..STARTS).try_for_each(|_| start_job(std::env::current_exe()?, nodes)),
        ["side", "beside", nodes] => {
            let other = PathBuf::from(std::env::var_os(OTHER).unwrap_or_default());
            (0..STARTS).try_for_each(|_| start_job(other.clone(), nodes))
        }
        ["side", "nothing", times] => (0..STARTS).try_for_each(|_| start_nothing(times)),
        _ => {
            let without = usize::from(std::env::var_os(OTHER).is_none());
            compare(&COMPARISONS[..COMPARISONS.len() - without], Arguments::parse().rounds).map(drop)
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The program that is started.
fn reach_goal(began_ns: &str) -> ExitCode {
    let began_ns = number(began_ns);
    chare::run(move |_| async move {
        let goal = GoalProxy::create_on(PeId(chare::pes() - 1));
        goal.reach(began_ns);
    })
}

fn start_job(program: PathBuf, nodes: &str) -> io::Result<()> {
    let began_ns = now_ns().to_string();
    let status = Command::new(program).args(["program", &began_ns, "+n", nodes]).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(status.to_string())) }
}

fn start_nothing(times: &str) -> io::Result<()> {
    let began_ns = now_ns();
    let children: Vec<Child> =
        (0..number(times)).map(|_| Command::new("/bin/true").spawn()).collect::<io::Result<_>>()?;
    for mut child in children {
        child.wait()?;
    }
    tell((now_ns() - began_ns) as f64);
    Ok(())
}

/// A number that this program told itself.
fn number(word: &str) -> u64 {
    word.parse().expect("sides are started with numbers")
}

/// By a clock that all processes of the host share.
fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
