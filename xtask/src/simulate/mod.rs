//! `cargo xtask simulate`: the tests of the runtime in simulated jobs, by many seeds.
//!
//! Every program that has to pass on each path between nodes (`runtime/tests/every_path`) runs with each seed, and all that a seed may decide
//! is left to it. What fails is tried again with less chance and fewer nodes, and the line that repeats the least is printed; it is the same to
//! the last bit. A campaign also says how often it came to the places that protocols call rare; and `--planted` shows whether it finds
//! faults.

mod failure;
mod marks;
mod minimise;
mod mix;
mod planted;

use crate::report::Report;
use crate::step::{Finished, Outcome, root, target_directory};
use failure::Failure;
use marks::Marks;
use mix::{Mix, Run};
use planted::Search;
use std::time::Instant;

/// Seeds by which a process runs its programs.
const BATCH: u64 = 50;

/// The jobs of a campaign.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How many seeds
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// The first seed
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Only this seed
    #[arg(long, conflicts_with_all = ["seeds", "first"])]
    replay: Option<u64>,
    /// Only tests whose names have this
    #[arg(long)]
    test: Option<String>,
    /// Only test binaries of these names
    #[arg(long)]
    binary: Vec<String>,
    /// Cargo's profile
    #[arg(long, default_value = "simulation")]
    profile: String,
    /// Plant faults in a copy of the tree, all or those whose names have one of these words (commas between them), and see which seed finds each
    #[arg(long, num_args = 0..=1, default_missing_value = "")]
    planted: Option<String>,
}

/// Runs the campaign.
pub(crate) fn run(options: Options, report: &mut Report) {
    let began = Instant::now();
    let name = if options.planted.is_some() { "planted faults" } else { "simulation" };
    let outcome = match &options.planted {
        Some(wanted) => {
            let Options { profile, first, seeds, .. } = &options;
            planted::run(&Search { profile, first: *first, seeds: *seeds, wanted })
        }
        None => campaign(&options),
    };
    let outcome = outcome.map_or_else(Outcome::Failed, |()| Outcome::Passed);
    report.add(Finished { name: name.to_owned(), outcome, elapsed: began.elapsed(), output: Vec::new() });
}

/// # Errors
/// What failed, in words.
fn campaign(options: &Options) -> Result<(), String> {
    let Options { seeds, first, replay, test, .. } = options;
    let (first, seeds) = replay.map_or((*first, *seeds), |seed| (seed, 1));
    let mix = Mix::build((root(), &target_directory()), &options.profile, &options.binary)?;
    let (mut marks, mut failures) = (Marks::of_tree(root()), Vec::<Failure>::new());
    let (all_began, mut jobs) = (Instant::now(), 0);
    for binary in mix.binaries() {
        let began = Instant::now();
        let filter: Vec<String> = test.iter().cloned().collect();
        let mut ran = mix.run(binary, &Run { filter, ..Run::of_seeds(first, 1) });
        let simulated: Vec<String> = ran.tests().into_keys().collect();
        let (programs, mut failed) = (simulated.len(), ran.failures.len());
        // A program that fails by one seed is not run by the next: each batch is a process of its own.
        let (mut next, end) = (first + 1, first + seeds);
        loop {
            marks.add(&ran.marks);
            failures.append(&mut ran.failures);
            let batch = BATCH.min(end - next);
            if batch == 0 || programs == 0 {
                break;
            }
            ran = mix.run(
                binary,
                &Run { filter: simulated.clone(), is_exact: true, ..Run::of_seeds(next, batch) },
            );
            failed += ran.failures.len();
            next += batch;
        }
        jobs += programs as u64 * seeds;
        let seconds = began.elapsed().as_secs_f64();
        println!("{:<20} {programs} programs, {seeds} seeds, {seconds:.1} s, {failed} failures", binary.name);
    }
    println!("{jobs} jobs, each by a program and a seed, {:.1} s", all_began.elapsed().as_secs_f64());
    for failure in &failures {
        println!("\n{failure}\n  {}", minimise::minimise(&mix, failure, None, &options.profile));
    }
    let unreached = marks.print();
    let is_whole = test.is_none() && options.binary.is_empty() && seeds >= marks::SEEDS_MIN;
    match (failures.len(), unreached) {
        (0, 0) => Ok(()),
        (0, unreached) if is_whole => Err(format!("{unreached} marks were never passed")),
        (0, _) => Ok(()),
        (failed, _) => Err(format!("{failed} programs, by the seeds above")),
    }
}
