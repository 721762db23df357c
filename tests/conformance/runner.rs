//! Check runner: checks run one after another, so that each can count descriptors; the end is a report of those that passed,
//! failed and were skipped.

use crate::group::PATIENCE;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A check that takes longer hangs. The slowest one, all pairs of layouts over an emulated RDMA device, needs half a minute on a quiet
/// machine; programs that checks start are ended before.
const WATCHDOG: Duration = Duration::from_secs(180);

/// The outcome of a check that did not panic.
pub(crate) enum Outcome {
    /// The promise held.
    Passed,
    /// It could not be tried, for this reason.
    Skipped(String),
}

/// One named check.
pub(crate) struct Check {
    name: String,
    run: Box<dyn FnOnce() -> Outcome>,
}

impl Check {
    pub(crate) fn new(name: String, run: impl FnOnce() -> Outcome + 'static) -> Self {
        Self { name, run: Box::new(run) }
    }
}

/// The body of a check.
pub(crate) type Run = fn() -> Outcome;

/// Checks with a common first name.
pub(crate) fn family(name: &str, checks: &[(&str, Run)]) -> Vec<Check> {
    checks.iter().map(|(check, run)| Check::new(format!("{name}::{check}"), *run)).collect()
}

/// Descriptors this process has open.
pub(crate) fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Waits until no more descriptors are open than there were: who reads a program's output closes it a moment after the program's end.
pub(crate) fn await_descriptors(before: usize) {
    let deadline = Instant::now() + PATIENCE;
    while descriptors() > before && Instant::now() < deadline {
        std::thread::yield_now();
    }
}

/// Ends the process if `alive` is silent for too long, naming the check that hangs.
fn watch() -> std::sync::mpsc::Sender<String> {
    let (alive, heard) = channel::<String>();
    std::thread::spawn(move || {
        let mut running = "the first check".to_owned();
        loop {
            match heard.recv_timeout(WATCHDOG) {
                Ok(next) => running = next,
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    eprintln!("{running} hangs: no end after {} s", WATCHDOG.as_secs());
                    std::process::exit(101);
                }
            }
        }
    });
    alive
}

/// What the command line selects: `WORD... [--skip WORD]... [--list]`. Other options are the standard harness's.
#[derive(Default)]
struct Selection {
    /// All of them stand in a check's name.
    words: Vec<String>,
    /// None of them does.
    skipped: Vec<String>,
    list: bool,
}

impl Selection {
    fn of(mut arguments: impl Iterator<Item = String>) -> Self {
        let mut selection = Self::default();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--skip" => selection.skipped.extend(arguments.next()),
                "--list" => selection.list = true,
                option if option.starts_with('-') => {}
                _ => selection.words.push(argument),
            }
        }
        selection
    }
}

/// Runs the checks that the command line selects.
pub(crate) fn run(checks: Vec<Check>) -> ExitCode {
    let Selection { words, skipped: without, list } = Selection::of(std::env::args().skip(1));
    let is_selected = |check: &Check| {
        words.iter().all(|word| check.name.contains(word))
            && !without.iter().any(|word| check.name.contains(word))
    };
    let selected = checks.into_iter().filter(is_selected);
    if list {
        selected.for_each(|check| println!("{}: test", check.name));
        return ExitCode::SUCCESS;
    }
    let alive = watch();
    let started = Instant::now();
    let (mut passed, mut skipped, mut failed) = (0, 0, Vec::new());
    for Check { name, run } in selected {
        // The watchdog lives as long as this sender.
        let _ = alive.send(name.clone());
        let (before, began) = (descriptors(), Instant::now());
        let outcome = catch_unwind(AssertUnwindSafe(run));
        let after = descriptors();
        let millis = began.elapsed().as_millis();
        match outcome {
            Ok(_) if after != before => {
                println!("{name} ... FAILED: {before} descriptors before, {after} after");
                failed.push(name);
            }
            Ok(Outcome::Passed) => {
                println!("{name} ... ok ({millis} ms)");
                passed += 1;
            }
            Ok(Outcome::Skipped(why)) => {
                println!("{name} ... skipped: {why}");
                skipped += 1;
            }
            Err(_) => {
                println!("{name} ... FAILED");
                failed.push(name);
            }
        }
    }
    println!(
        "conformance: {passed} passed, {skipped} skipped, {} failed in {:.1} s",
        failed.len(),
        started.elapsed().as_secs_f64()
    );
    failed.iter().for_each(|name| println!("failed: {name}"));
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
