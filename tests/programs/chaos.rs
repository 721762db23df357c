//! The kill campaign as a program, which `cargo xtask chaos` runs.

use chare_tests::chaos::campaign::Campaign;
use chare_tests::chaos::fault::Fault;
use chare_tests::chaos::plan::Path;
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use std::process::ExitCode;

/// Breaks many jobs, each at a random message, and checks how each ends
#[derive(Parser)]
#[command(name = "chaos")]
struct Options {
    /// How many jobs
    #[arg(long, default_value_t = 1_000)]
    runs: u64,
    /// Seed of the first job; each job has the next one. A failed job's seed alone replays it: `--seed S --runs 1`
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Only over this path
    #[arg(long, value_enum)]
    path: Option<Path>,
    /// Only with this fault
    #[arg(long, value_enum)]
    fault: Option<Fault>,
    /// How many jobs at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

fn main() -> ExitCode {
    let Options { runs, seed, path, fault, jobs } = Options::parse();
    let program = match std::env::current_exe() {
        // Cargo lays all programs of a package into one folder.
        Ok(this) => this.with_file_name("checked"),
        Err(error) => {
            eprintln!("chaos: its own place is unknown: {error}");
            return ExitCode::FAILURE;
        }
    };
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {elapsed} (left: {eta})");
    let bar = ProgressBar::new(runs).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let campaign = Campaign { program, runs, seed, path, fault, at_a_time: jobs };
    let summary = campaign.run(|| bar.inc(1));
    bar.finish_and_clear();
    println!("{summary}");
    if summary.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
