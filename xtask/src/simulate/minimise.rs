//! Minimiser: tries a job that failed with fewer nodes and PEs, less chance and by other seeds, for as long as it fails in the same way.

use super::failure::{Failure, Job};
use super::mix::{Binary, Mix, Run};

/// The parts of chance: see `chare::Chance`. Those first without which a job is easiest to follow.
const PARTS: [&str; 9] =
    ["knobs", "order", "refusals", "bursts", "pauses", "late", "room", "turns", "weather"];

/// Other seeds that are tried, to see whether one fails after fewer messages.
const OTHER_SEEDS: u64 = 24;

/// A program that failed, and how it is run.
struct Case<'a> {
    mix: &'a Mix,
    binary: &'a Binary,
    failure: &'a Failure,
    planted: Option<&'a str>,
}

impl Case<'_> {
    /// Runs the program by a seed; returns the job that failed as the first one did, if one does.
    fn fails(&self, seed: u64, parts: &[&str], shape: (u32, u32)) -> Option<Job> {
        let run = Run {
            filter: vec![self.failure.test.clone()],
            is_exact: true,
            chance: Some(parts.join(",")),
            shape: Some(shape),
            planted: self.planted.map(str::to_owned),
            ..Run::of_seeds(seed, 1)
        };
        let failures = self.mix.run(self.binary, &run).failures.into_iter();
        failures.filter(|other| other.kind() == self.failure.kind()).find_map(|other| other.job)
    }
}

/// Returns how small the least job is that fails, and what to type to see it. `planted` is the fault that was planted, if any was.
pub(super) fn minimise(mix: &Mix, failure: &Failure, planted: Option<&str>, profile: &str) -> String {
    let Failure { binary: name, job: Some(job), .. } = failure else {
        return "it names no job that could be repeated".to_owned();
    };
    let Some(binary) = mix.binary(name) else { return "it is of no test binary of this mix".to_owned() };
    let case = Case { mix, binary, failure, planted };
    let (mut parts, mut shape) = (PARTS.to_vec(), (job.nodes, job.pes));
    let Some(mut least) = case.fails(job.seed, &parts, shape) else {
        return format!("it does not fail again: {}", line((failure, planted), job, &parts, profile));
    };
    for fewer in smaller(shape) {
        if let Some(job) = case.fails(job.seed, &parts, fewer) {
            (shape, least) = (fewer, job);
            break;
        }
    }
    for part in PARTS {
        let fewer: Vec<&str> = parts.iter().copied().filter(|one| *one != part).collect();
        if let Some(job) = case.fails(job.seed, &fewer, shape) {
            (parts, least) = (fewer, job);
        }
    }
    for seed in 0..OTHER_SEEDS {
        if let Some(job) = case.fails(seed, &parts, shape).filter(|job| job.messages < least.messages) {
            least = job;
        }
    }
    let (chance, messages) = (parts.len(), least.messages);
    format!(
        "{chance} parts of chance, {messages} messages: {}",
        line((failure, planted), &least, &parts, profile)
    )
}

/// All smaller shapes, from the smallest on.
fn smaller((nodes, pes): (u32, u32)) -> Vec<(u32, u32)> {
    let all = (1..=nodes).flat_map(|fewer| (1..=pes).map(move |less| (fewer, less)));
    let mut all: Vec<(u32, u32)> = all.filter(|shape| *shape != (nodes, pes)).collect();
    all.sort_by_key(|(nodes, pes)| (nodes * pes, *nodes));
    all
}

/// What to type at the root of the tree. A fault that was planted is in the copy alone.
fn line((failure, planted): (&Failure, Option<&str>), job: &Job, parts: &[&str], profile: &str) -> String {
    let (Failure { binary, test, .. }, Job { nodes, pes, seed, .. }) = (failure, job);
    let chance = parts.join(",");
    let copy = planted.map(|fault| {
        format!("cd target/planted && CARGO_TARGET_DIR=../planted.target CHARE_PLANTED={fault} ")
    });
    let copy = copy.unwrap_or_default();
    format!(
        "{copy}CHARE_TEST_SEEDS={seed}+1 CHARE_TEST_CHANCE={chance} CHARE_TEST_SHAPE={nodes}x{pes} cargo test -p chare --features sim \
         --profile {profile} --test {binary} {test} -- --exact"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_jobs_come_first() {
        assert_eq!(smaller((2, 2)), [(1, 1), (1, 2), (2, 1)]);
        assert_eq!(smaller((1, 1)), []);
        let job = Job { nodes: 2, pes: 1, seed: 7, messages: 30 };
        let failure = Failure {
            binary: "moving".to_owned(),
            test: "kinds::all".to_owned(),
            job: Some(job.clone()),
            said: String::new(),
        };
        let own = "CHARE_TEST_SEEDS=7+1 CHARE_TEST_CHANCE=late CHARE_TEST_SHAPE=2x1 cargo test -p chare --features sim --profile \
                   simulation --test moving kinds::all -- --exact";
        assert_eq!(line((&failure, None), &job, &["late"], "simulation"), own);
        let copy = "cd target/planted && CARGO_TARGET_DIR=../planted.target CHARE_PLANTED=end-kept ";
        assert_eq!(line((&failure, Some("end-kept")), &job, &["late"], "simulation"), format!("{copy}{own}"));
    }
}
