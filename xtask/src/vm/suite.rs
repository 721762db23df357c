//! What `cargo xtask test` checks in guests: the RDMA devices that this machine lacks.

use super::{Failure, Machine, Rdma};
use crate::report::Report;
use crate::step::{Finished, Outcome, Step, target_directory};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Guests, each with its name, its options, and the test or program that it runs.
const GUESTS: [(&str, &str, Runs, &str); 5] = [
    ("guest: conformance", "", Runs::Test("conformance"), "verbs::"),
    ("guest: libfabric", "--env FI_UNIVERSE_SIZE=16", Runs::Test("conformance"), "ofi-verbs"),
    (
        "guest: programs",
        "--env CHARE_TEST_CABLE=rxe1,rxe2",
        Runs::Test("acceptance"),
        "verbs:: --test-threads=1 --show-output",
    ),
    ("guest: soft-iWARP", "--rdma siw", Runs::Test("conformance"), "reach-verbs"),
    ("guests: two hosts", "--hosts 2", Runs::TwoHosts, "lend +lrts verbs +stats"),
];

/// What a guest runs.
#[derive(Clone, Copy)]
enum Runs {
    /// The executable of this test.
    Test(&'static str),
    /// A program, by `chare-run`, on both hosts.
    TwoHosts,
}

/// Runs the guests, if this machine can.
pub(crate) fn run(features: &str, report: &mut Report) {
    let began = Instant::now();
    let prepared = prepare(features);
    let outcome = match &prepared {
        Ok(_) => Outcome::Passed,
        Err(Failure(why)) => Outcome::Skipped(why.clone()),
    };
    let finished = |name: &str, outcome, elapsed| Finished {
        name: name.to_owned(),
        outcome,
        elapsed,
        output: Vec::new(),
    };
    report.add(finished("guest: image", outcome, began.elapsed()));
    for (name, options, runs, arguments) in GUESTS {
        let step = match &prepared {
            Ok(tests) => step(name, options, command(runs, tests), arguments),
            Err(_) => Step::program(name, "xtask"),
        };
        report.add(match &prepared {
            Ok(_) => step.run(),
            Err(_) => step.skip("there is no guest".to_owned()),
        });
    }
}

/// Images of both kinds, and the executables of the tests.
fn prepare(features: &str) -> Result<Vec<PathBuf>, Failure> {
    for rdma in [Rdma::Siw, Rdma::Rxe] {
        super::run(&Machine { hosts: 1, rdma, timeout: 0, environment: Vec::new(), command: Vec::new() })?;
    }
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["test", "--no-run", "--message-format=json", "--workspace", "--features", features]);
    cargo.args(["--test", "conformance", "--test", "acceptance"]);
    let built = cargo.current_dir(crate::step::root()).stderr(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&built.stdout);
    let executables =
        said.lines().filter_map(|line| line.split("\"executable\":\"").nth(1)?.split('"').next());
    Ok(executables.map(PathBuf::from).collect())
}

/// The words of a command.
fn command(runs: Runs, tests: &[PathBuf]) -> Vec<PathBuf> {
    let debug = target_directory().join("debug");
    match runs {
        Runs::Test(name) => {
            let is_it = |test: &&PathBuf| {
                test.file_name().is_some_and(|file| file.to_string_lossy().starts_with(&format!("{name}-")))
            };
            tests.iter().find(is_it).cloned().into_iter().collect()
        }
        Runs::TwoHosts => {
            let words = ["-n", "4", "--hosts", "vm0,vm1"].map(PathBuf::from);
            [debug.join("chare-run")].into_iter().chain(words).chain([debug.join("probe")]).collect()
        }
    }
}

fn step(name: &str, options: &str, command: Vec<PathBuf>, arguments: &str) -> Step {
    let xtask = std::env::current_exe().unwrap_or_else(|_| "xtask".into());
    let mut step = Step::program(name, xtask).argument("vm");
    for option in options.split_whitespace() {
        step = step.argument(option);
    }
    step = step.argument("--");
    for word in command {
        step = step.argument(word);
    }
    arguments.split_whitespace().fold(step, Step::argument)
}
