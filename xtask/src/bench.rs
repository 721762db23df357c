//! `cargo xtask bench`: measures, in release, and keeps what was printed.

use crate::report::Report;
use crate::step::{Outcome, Step, root, target_directory};
use std::path::Path;
use std::{fs, io};

/// Runs the benchmarks with these names, or all.
pub(crate) fn run(names: &[String], report: &mut Report) {
    let mut step = Step::cargo("bench", "bench --package chare-benches");
    match names {
        [] => step = step.argument("--benches"),
        _ => step = names.iter().fold(step, |step, name| step.argument("--bench").argument(name)),
    }
    let mut finished = step.run();
    let directory = target_directory().join("bench");
    match keep(&directory, &finished.output) {
        Ok(()) => println!("kept in {}", directory.join("latest.txt").display()),
        Err(error) => {
            let why = format!("keeping the results in {}: {error}", directory.display());
            finished.outcome = Outcome::Failed(why);
        }
    }
    report.add(finished);
}

fn keep(directory: &Path, output: &[String]) -> io::Result<()> {
    debug_assert!(directory.is_absolute() || directory.starts_with(root()), "steps run in the root");
    fs::create_dir_all(directory)?;
    fs::write(directory.join("latest.txt"), output.join("\n") + "\n")
}
