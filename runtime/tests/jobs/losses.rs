//! Lost nodes: a job of which one is lost ends with an error that names it, wherever the others are; or with the right result, if it was over.
//! And nodes whose frames do not arrive as they were sent, or that may keep little.

use crate::every_path::{fidelity_of, is_of_the_runtime, lost_node, wants_memory};
use chare::prelude::*;
use chare::{Chance, JobError, ReachOptions, Simulation};
use std::collections::BTreeSet;
use std::time::Duration;

const ROUNDS: u64 = 4;

/// How often those who are called call two others in turn.
const DEPTH: u32 = 5;

/// Virtual time in which each job ends: that of an audit, and what chance makes of the work.
const LONGEST: Duration = Duration::from_secs(3);

/// Numbers that travel apart from their message.
const LONG: usize = 20_000;

struct Worker {
    sum: u64,
}

#[chare(array)]
impl Worker {
    #[entry]
    fn new() -> Self {
        Self { sum: 0 }
    }

    #[entry]
    fn spread(&mut self, depth: u32, workers: u64) {
        self.sum += 1;
        // Whatever has arrived: there is no more of it than was meant.
        let (depth, workers) = (depth.min(DEPTH), workers.clamp(1, 2 * u64::from(chare::pes())));
        for _ in 0..if depth > 0 { 2 } else { 0 } {
            self.this_collection().at(chare::dice().below(workers)).spread(depth - 1, workers);
        }
    }

    #[entry]
    fn lend(&mut self, #[nocopy] numbers: Received<u64>, done: Callback<u64>) {
        done.send(numbers.iter().sum());
    }

    #[entry]
    fn total(&mut self, to: Callback<u64>) {
        let seen = std::mem::take(&mut self.sum);
        self.contribute(sum(seen), to);
    }
}

/// Calls, quiescence, reductions, lent memory; each result is looked at.
async fn work() {
    let workers = 2 * u64::from(chare::pes());
    let all = WorkerProxy::create(workers);
    for round in 0..ROUNDS {
        all.at(round % workers).spread(DEPTH, workers);
        chare::quiescence().await;
        let (total, on_total) = chare::future();
        all.total(on_total);
        assert_eq!(total.await, (1 << (DEPTH + 1)) - 1);
        let (lent, on_lent) = chare::future();
        all.at(workers - 1).lend(vec![round; LONG], on_lent);
        assert_eq!(lent.await, round * LONG as u64);
    }
}

#[test]
fn a_job_of_which_a_node_is_lost_ends_and_names_it() {
    let (mut well, mut lost) = (0, BTreeSet::new());
    let mut wrong = Vec::new();
    for (nodes, pes) in [(2, 1), (3, 2), (5, 1)] {
        for seed in 0..60 {
            let parts = Chance::ALL.into_iter().chain([Chance::Losses]);
            let job = Simulation::new(nodes, pes).seed(seed).chance(parts).audited();
            let outcome = job.fidelity(fidelity_of(seed)).run(work);
            assert!(outcome.time() < LONGEST, "{nodes}x{pes}, seed {seed}: {:?}", outcome.time());
            match outcome.code() {
                Ok(code) => {
                    assert_eq!(code, 0);
                    well += 1;
                }
                Err(error) => match lost_node(&error) {
                    Some(node) => _ = lost.insert(node),
                    None => wrong.push(format!("{nodes}x{pes}, seed {seed}: {error}")),
                },
            }
        }
    }
    assert!(wrong.is_empty(), "{} jobs: {}", wrong.len(), wrong.join("\n"));
    assert!(well > 50, "half of the seeds lose nobody: {well}");
    assert!(lost.contains(&NodeId(0)) && lost.len() == 5, "each may be lost: {lost:?}");
}

/// Runs the work in jobs with a part of chance that may end them; returns how many ended well, and the errors of the others.
fn under(part: Chance, network: &ReachOptions) -> (u32, Vec<(String, JobError)>) {
    let (mut well, mut errors) = (0, Vec::new());
    for (nodes, pes) in [(2, 1), (3, 2), (5, 1)] {
        for seed in 0..60 {
            let parts = Chance::ALL.into_iter().chain([part]);
            let job = Simulation::new(nodes, pes).seed(seed).chance(parts).network(network.clone()).audited();
            match job.run(work).code() {
                Ok(_) => well += 1,
                Err(error) => errors.push((format!("{nodes}x{pes}, seed {seed}"), error)),
            }
        }
    }
    assert!(well > 50, "half of the seeds have nothing of it: {well}");
    (well, errors)
}

#[test]
fn a_frame_that_was_changed_ends_a_job_with_tags_and_the_error_names_who_sent_it() {
    let tags = ReachOptions { tags: true, ..ReachOptions::default() };
    let (_, errors) = under(Chance::Corruption, &tags);
    let wrong: Vec<_> = errors.iter().filter(|(_, error)| lost_node(error).is_none()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(errors.len() > 20, "many are struck: {}", errors.len());
}

#[test]
fn no_frame_that_was_changed_makes_the_runtime_panic() {
    let (_, errors) = under(Chance::Corruption, &ReachOptions::default());
    let wrong: Vec<_> = errors.iter().filter(|(_, error)| is_of_the_runtime(error)).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(errors.len() > 10, "many are noticed: {}", errors.len());
}

#[test]
fn a_node_that_may_keep_little_gets_along_or_says_what_is_used_up() {
    let (_, errors) = under(Chance::Memory, &ReachOptions::default());
    let wrong: Vec<_> = errors.iter().filter(|(_, error)| !wants_memory(error)).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(errors.len() > 5, "some do not get along: {}", errors.len());
}
