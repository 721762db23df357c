//! `chare-trace`: sums up the timelines that chare programs write with `+trace FILE`, and merges the files of their nodes.

use chare_trace::{Summary, Timeline, TraceError, describe, draw, find_files, merge, write_tables};
use clap::{Parser, Subcommand};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Sums up the timelines that chare programs write with `+trace FILE`.
///
/// A viewer (https://ui.perfetto.dev, chrome://tracing) opens the files themselves.
#[derive(Parser)]
#[command(name = "chare-trace", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print where the time went: profile, PEs, entries, grain sizes, messages
    Summary {
        /// What `+trace` got, or the files of all nodes, or a merged file
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Entries to print
        #[arg(long, value_name = "N", default_value_t = 15)]
        entries: usize,
        /// Intervals of the time profile
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        intervals: u32,
        /// Write the tables into this folder, too, a CSV file each
        #[arg(long, value_name = "FOLDER")]
        csv: Option<PathBuf>,
        /// Draw the timeline, too
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,
    },
    /// Put the files of all nodes into one, which a viewer opens at once
    Merge {
        /// What `+trace` got, or the files of all nodes
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// The merged file
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("chare-trace: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), TraceError> {
    match command {
        Command::Summary { files, entries, intervals, csv, svg } => {
            let timeline = Timeline::read(&found(&files)?)?;
            let summary = Summary::of(&timeline, intervals as usize);
            if let Some(folder) = csv {
                write_tables(&summary, &folder)?;
            }
            if let Some(file) = svg {
                draw(&timeline, &summary, &file)?;
            }
            // A reader that has seen enough closes its end.
            let _ = std::io::stdout().write_all(describe(&summary, entries).as_bytes());
            Ok(())
        }
        Command::Merge { files, output } => merge(&found(&files)?, &output),
    }
}

fn found(paths: &[PathBuf]) -> Result<Vec<PathBuf>, TraceError> {
    let files: Result<Vec<_>, _> = paths.iter().map(|path| find_files(path)).collect();
    Ok(files?.concat())
}
