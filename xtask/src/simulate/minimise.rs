//! Minimiser: tries a job that failed with less chance, fewer nodes and fewer PEs, for as long as it fails in the same way.

use super::failure::{Failure, Job};
use super::mix::{Mix, Run};

/// The parts of chance: see `chare::Chance`. Those first without which a job is easiest to follow.
const PARTS: [&str; 9] =
    ["knobs", "order", "refusals", "bursts", "pauses", "late", "room", "turns", "weather"];

/// Returns what to type to see the least job that fails.
pub(super) fn minimise(mix: &Mix, failure: &Failure, profile: &str) -> String {
    let Failure { binary, test, job: Some(job), .. } = failure else {
        return "it names no job that could be repeated".to_owned();
    };
    let Some(of_test) = mix.binary(binary) else { return "it is of no test binary of this mix".to_owned() };
    let (mut parts, mut shape) = (PARTS.to_vec(), (job.nodes, job.pes));
    let fails = |parts: &[&str], shape: (u32, u32)| {
        let (filter, chance) = (vec![test.clone()], Some(parts.join(",")));
        let run = Run { filter, is_exact: true, chance, shape: Some(shape), ..Run::of_seeds(job.seed, 1) };
        let ran = mix.run(of_test, &run);
        ran.failures.iter().any(|other| other.kind() == failure.kind())
    };
    if !fails(&parts, shape) {
        return format!("it does not fail again: {}", line(failure, job, None, profile));
    }
    for part in PARTS {
        let fewer: Vec<&str> = parts.iter().copied().filter(|one| *one != part).collect();
        if fails(&fewer, shape) {
            parts = fewer;
        }
    }
    for fewer in smaller(shape) {
        if fails(&parts, fewer) {
            shape = fewer;
            break;
        }
    }
    line(failure, job, Some((&parts, shape)), profile)
}

/// All smaller shapes, from the smallest on.
fn smaller((nodes, pes): (u32, u32)) -> Vec<(u32, u32)> {
    let all = (1..=nodes).flat_map(|fewer| (1..=pes).map(move |less| (fewer, less)));
    let mut all: Vec<(u32, u32)> = all.filter(|shape| *shape != (nodes, pes)).collect();
    all.sort_by_key(|(nodes, pes)| (nodes * pes, *nodes));
    all
}

fn line(failure: &Failure, job: &Job, least: Option<(&[&str], (u32, u32))>, profile: &str) -> String {
    let Failure { binary, test, .. } = failure;
    let least = least.map_or_else(String::new, |(parts, (nodes, pes))| {
        format!("CHARE_TEST_CHANCE={} CHARE_TEST_SHAPE={nodes}x{pes} ", parts.join(","))
    });
    format!(
        "CHARE_TEST_SEEDS={}+1 {least}cargo test -p chare --features sim --profile {profile} --test {binary} {test} -- --exact",
        job.seed
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_jobs_come_first() {
        assert_eq!(smaller((2, 2)), [(1, 1), (1, 2), (2, 1)]);
        assert_eq!(smaller((1, 1)), []);
        let job = Job { nodes: 2, pes: 2, seed: 7 };
        let failure = Failure {
            binary: "moving".to_owned(),
            test: "kinds::all".to_owned(),
            job: Some(job.clone()),
            said: String::new(),
        };
        assert_eq!(
            line(&failure, &job, Some((&["late"], (2, 1))), "simulation"),
            "CHARE_TEST_SEEDS=7+1 CHARE_TEST_CHANCE=late CHARE_TEST_SHAPE=2x1 cargo test -p chare --features sim --profile simulation --test \
             moving kinds::all -- --exact"
        );
    }
}
