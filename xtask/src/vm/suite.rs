//! Guest checks of `cargo xtask test`: the RDMA devices and the bad networks that this machine lacks.

use super::{Failure, Machine, Rdma};
use crate::report::Report;
use crate::step::{Finished, Outcome, Step, target_directory};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A guest, or two, and what is checked there.
struct Check {
    name: &'static str,
    options: &'static [&'static str],
    runs: Runs,
    arguments: &'static str,
}

/// libfabric makes queues for this many peers, 256 without; software devices hold no longer ones.
const SMALL_QUEUES: &str = "FI_UNIVERSE_SIZE=16";

const CHECKS: [Check; 9] = [
    Check { name: "guest: conformance", options: &[], runs: Runs::Test("conformance"), arguments: "verbs::" },
    Check {
        name: "guest: programs",
        options: &["--env", "CHARE_TEST_CABLE=rxe1,rxe2"],
        runs: Runs::Test("acceptance"),
        arguments: "verbs:: --test-threads=1 --show-output",
    },
    Check {
        name: "guest: zero-copy ports",
        options: &["--env", "CHARE_TEST_LAYOUTS=+n 2 +lrts verbs"],
        runs: Runs::Test("zerocopy"),
        arguments: "--test-threads=1",
    },
    Check {
        name: "guest: device buffers",
        options: &["--env", "CHARE_TEST_CABLE=rxe1,rxe2"],
        runs: Runs::Test("devices"),
        arguments: "over_verbs --show-output",
    },
    Check {
        name: "guest: libfabric",
        options: &["--env", SMALL_QUEUES],
        runs: Runs::Test("conformance"),
        arguments: "ofi-rdma::",
    },
    Check {
        name: "guest: ping-pong",
        options: &["--env", SMALL_QUEUES],
        runs: Runs::Test("examples"),
        arguments: "pingpong_prints_both_tables_over --test-threads=1 --show-output",
    },
    Check {
        name: "guest: soft-iWARP",
        options: &["--rdma", "siw"],
        runs: Runs::Test("conformance"),
        // All pairs and prefixes of layouts take a third of the time, and are tried over Soft-RoCE.
        arguments: "verbs:: --skip both_sides_strided --skip prefix",
    },
    Check {
        name: "guest: late and lost packets",
        options: &[],
        runs: Runs::Test("hosts"),
        arguments: "late_and_lost --show-output",
    },
    Check {
        name: "guests: two hosts",
        options: &["--hosts", "2"],
        runs: Runs::TwoHosts,
        arguments: "lend +lrts verbs +stats",
    },
];

/// The work of a guest.
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
    for check in CHECKS {
        report.add(match &prepared {
            Ok(tests) => checked(step(&check, tests).run()),
            Err(_) => finished(check.name, Outcome::Skipped("there is no guest".to_owned()), Duration::ZERO),
        });
    }
}

/// A guest in which no test ran has checked nothing.
fn checked(mut finished: Finished) -> Finished {
    if matches!(finished.outcome, Outcome::Passed)
        && finished.output.iter().any(|line| line == "running 0 tests")
    {
        finished.outcome = Outcome::Failed("no test ran: the check's words name none".to_owned());
    }
    finished
}

/// Images of both kinds, and the executables of the tests.
fn prepare(features: &str) -> Result<Vec<PathBuf>, Failure> {
    for rdma in [Rdma::Siw, Rdma::Rxe] {
        super::run(&Machine { hosts: 1, rdma, silence: 0, environment: Vec::new(), command: Vec::new() })?;
    }
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["test", "--no-run", "--message-format=json", "--workspace", "--features", features]);
    for test in ["conformance", "acceptance", "zerocopy", "devices", "examples", "hosts"] {
        cargo.args(["--test", test]);
    }
    let built = cargo.current_dir(crate::step::root()).stderr(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&built.stdout);
    // Other packages have tests of the same names.
    let package = format!("\"manifest_path\":\"{}\"", crate::step::root().join("tests/Cargo.toml").display());
    let of_tests = said.lines().filter(|line| line.contains(&package));
    let executables = of_tests.filter_map(|line| line.split("\"executable\":\"").nth(1)?.split('"').next());
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

fn step(check: &Check, tests: &[PathBuf]) -> Step {
    // Not this process's own file, which a build of the workspace may have replaced.
    let xtask = target_directory().join("debug").join("xtask");
    let mut step = Step::program(check.name, xtask).argument("vm");
    for option in check.options {
        step = step.argument(option);
    }
    step = step.argument("--");
    for word in command(check.runs, tests) {
        step = step.argument(word);
    }
    check.arguments.split_whitespace().fold(step, Step::argument)
}
