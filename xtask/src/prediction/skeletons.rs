//! Skeletons of programs (`examples/skeletons`), run for real and as simulated jobs.

use crate::report::Report;
use crate::step::{Outcome, Step, built, target_directory};
use std::path::PathBuf;

/// Runs, of which the quickest counts: whatever else the machine does makes them slower. They are many, and each is shorter than what the
/// kernel lets a thread run at a time, so that on a busy machine some are not interrupted.
const RUNS: u32 = 100;

/// What a skeleton does.
#[derive(Clone, Copy)]
pub(super) struct Skeleton {
    pub(super) pattern: &'static str,
    pub(super) bytes: usize,
    pub(super) compute_ns: u64,
    pub(super) rounds: u32,
}

impl Skeleton {
    pub(super) fn describe(&self) -> String {
        format!("{}, {} bytes, {} ns of computing", self.pattern, self.bytes, self.compute_ns)
    }
}

/// The program that runs them.
pub(super) struct Player(PathBuf);

impl Player {
    /// Builds it in release, with simulated jobs.
    ///
    /// # Errors
    /// Why it cannot be, in words.
    pub(super) fn build() -> Result<Self, String> {
        let artifacts = built("build --release --package chare-examples --features sim --example skeletons")?;
        let of_example = artifacts.iter().find(|artifact| artifact["target"]["name"] == "skeletons");
        let program = of_example.and_then(|artifact| artifact["executable"].as_str());
        program.map(|program| Self(program.into())).ok_or_else(|| "cargo names no program".to_owned())
    }

    /// The time of a round, in nanoseconds, for real on so many processes.
    ///
    /// # Errors
    /// What has failed, in words.
    pub(super) fn measure(
        &self,
        skeleton: Skeleton,
        processes: u32,
        report: &mut Report,
    ) -> Result<f64, String> {
        self.run(skeleton, RUNS, &["+n", &processes.to_string()], report)
    }

    /// The same in a simulated job.
    ///
    /// # Errors
    /// What has failed, in words.
    pub(super) fn predict(
        &self,
        skeleton: Skeleton,
        (nodes, model): (u32, &Model),
        report: &mut Report,
    ) -> Result<f64, String> {
        let (nodes, costs) = (nodes.to_string(), model.costs.to_string());
        self.run(skeleton, 1, &["+sim", &nodes, "+model", &model.network, "+costs", &costs], report)
    }

    fn run(
        &self,
        skeleton: Skeleton,
        runs: u32,
        options: &[&str],
        report: &mut Report,
    ) -> Result<f64, String> {
        let Skeleton { pattern, bytes, compute_ns, rounds } = skeleton;
        let mut step = Step::program(&format!("{} {}", skeleton.describe(), options.join(" ")), &self.0);
        for (option, value) in [
            ("--bytes", bytes.to_string()),
            ("--compute", compute_ns.to_string()),
            ("--rounds", rounds.to_string()),
            ("--runs", runs.to_string()),
            ("--pattern", pattern.to_owned()),
        ] {
            step = step.argument(option).argument(value);
        }
        let finished = options.iter().fold(step, |step, option| step.argument(*option)).run();
        let each = finished.output.iter().find_map(|line| time_of(line));
        let outcome = finished.outcome.clone();
        report.add(finished);
        match (outcome, each) {
            (Outcome::Passed, Some(each)) => Ok(each),
            (Outcome::Passed, None) => Err("the program has told no time".to_owned()),
            (Outcome::Failed(why) | Outcome::Skipped(why), _) => Err(why),
        }
    }
}

/// The time of a round, in nanoseconds, in a line of the program's output.
fn time_of(line: &str) -> Option<f64> {
    let (_, rest) = line.split_once(" ns of computing: ")?;
    rest.strip_suffix(" ns each round")?.parse().ok()
}

/// A model of this machine, as the options of a simulated job take it.
#[derive(PartialEq, Debug)]
pub(super) struct Model {
    pub(super) network: String,
    /// Of each entry, in nanoseconds.
    pub(super) costs: u64,
}

impl Model {
    /// The file that `fit` writes and `predict` reads.
    pub(super) fn file() -> PathBuf {
        target_directory().join("model.txt")
    }

    pub(super) fn line(&self) -> String {
        format!("+model {} +costs {}", self.network, self.costs)
    }

    pub(super) fn read(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["+model", network, "+costs", costs] = words[..] else { return None };
        Some(Self { network: network.to_owned(), costs: costs.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_models_are_read_as_they_are_written() {
        let line = "PingPong on 2 PEs, 8 bytes, 0 ns of computing: 512.3 ns each round";
        assert_eq!(time_of(line), Some(512.3));
        assert_eq!(time_of("simulated 3ms by seed 0"), None);
        let model = Model { network: "loggops:L=1,o=2,g=3,G=0.100,O=0".to_owned(), costs: 7 };
        assert_eq!(Model::read(&model.line()), Some(model));
        assert_eq!(Model::read("+model"), None);
    }
}
