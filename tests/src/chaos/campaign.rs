//! Campaigns: many runs, a few at a time, and their results together.

use super::fault::Fault;
use super::plan::{Path, Plan};
use super::run::{self, Ending, Passed};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The runs of a campaign.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The program under test: `checked`.
    pub program: PathBuf,
    /// How many.
    pub runs: u64,
    /// Seed of the first; the others follow.
    pub seed: u64,
    /// Only over this path.
    pub path: Option<Path>,
    /// Only with this fault.
    pub fault: Option<Fault>,
    /// How many at a time.
    pub at_a_time: usize,
}

/// The results of a campaign.
#[derive(Debug, Default)]
pub struct Summary {
    endings: BTreeMap<(Path, Fault, Ending), u64>,
    slowest: Duration,
    /// The plan of each failed run, and why it failed.
    pub failures: Vec<String>,
}

impl Campaign {
    /// Runs them all, and tells of each as it ends.
    pub fn run(&self, ended: impl Fn() + Sync) -> Summary {
        let before = shared_files();
        let (next, summary) = (AtomicU64::new(0), Mutex::new(Summary::default()));
        let work = || {
            while let index = next.fetch_add(1, Ordering::Relaxed)
                && index < self.runs
            {
                let plan = Plan::new(self.seed.wrapping_add(index), self.path, self.fault);
                let result = run::run(&self.program, &plan);
                summary.lock().expect("nobody panics with it").add(&plan, result);
                ended();
            }
        };
        std::thread::scope(|scope| (0..self.at_a_time).for_each(|_| drop(scope.spawn(work))));
        let mut summary = summary.into_inner().expect("nobody panicked with it");
        let left: Vec<_> = shared_files().into_iter().filter(|name| !before.contains(name)).collect();
        if !left.is_empty() {
            summary.failures.push(format!("shared memory is left behind: {left:?}"));
        }
        summary
    }
}

/// Names that a job could have left in shared memory.
fn shared_files() -> Vec<OsString> {
    let names = std::fs::read_dir("/dev/shm").into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter(|name| name.to_string_lossy().contains("chare")).collect()
}

impl Summary {
    fn add(&mut self, plan: &Plan, result: Result<Passed, String>) {
        match result {
            Ok(Passed { ending, took }) => {
                *self.endings.entry((plan.path, plan.fault, ending)).or_default() += 1;
                self.slowest = self.slowest.max(took.unwrap_or_default());
            }
            Err(why) => self.failures.push(format!("{plan}: {why}")),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{:<10} {:<10} {:<10} {:>6}", "path", "fault", "ending", "runs")?;
        for ((path, fault, ending), runs) in &self.endings {
            let ending = format!("{ending:?}").to_lowercase();
            writeln!(out, "{:<10} {:<10} {ending:<10} {runs:>6}", path.to_string(), fault.to_string())?;
        }
        for failure in &self.failures {
            writeln!(out, "FAILED {failure}")?;
        }
        let passed: u64 = self.endings.values().sum();
        let (failed, slowest) = (self.failures.len(), self.slowest.as_secs_f64());
        write!(out, "chaos: {passed} passed, {failed} failed; at most {slowest:.1} s from fault to end")
    }
}
