//! Task Bench: the least granularity of tasks at which half of the time is work, over patterns of dependences, beside MPI and bare threads.
//!
//! `cargo bench -p chare-benches --features mpi --bench taskbench [-- --patterns stencil --plot target/taskbench]`; `benches/README.md`
//! explains the rows. The patterns, and METG, are those of the paper (see `graph.rs`); the program is our own.

mod graph;
mod job;
mod kernel;
#[cfg(feature = "mpi")]
mod mpi;
mod ours;
mod picture;
mod threads;

#[cfg(feature = "mpi")]
use chare_benches::launcher::{MPIS, is_launched};
use chare_benches::{Batches, Efficiency, Spread, code_of, measure, metg};
use clap::{Parser, ValueEnum};
use graph::Pattern;
use job::Job;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

/// Processors of each side.
const PROCESSORS: usize = 2;

/// Measures the least granularity of tasks at which half of the time is work.
#[derive(Parser)]
struct Arguments {
    /// Patterns
    #[arg(long, value_enum, value_delimiter = ',', default_value = "stencil,nearest,all-to-all")]
    patterns: Vec<Pattern>,
    /// Points of a step
    #[arg(long, value_delimiter = ',', default_value = "32", value_parser = clap::value_parser!(u32).range(1..=4096))]
    widths: Vec<u32>,
    /// Inputs of a point, where the pattern leaves that open
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    radix: u32,
    /// Steps of a graph
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(2..))]
    steps: u32,
    /// Rounds; every side runs each grain once in each
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Folder for a picture of each pattern and width
    #[arg(long)]
    plot: Option<PathBuf>,
    /// Accepted because `cargo bench` passes it
    #[arg(long, hide = true)]
    bench: bool,
}

/// Grains of the kernel, falling: some 60 us of work to some 30 ns.
const GRAINS: [u64; 12] = [4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [first, side, grain, rest @ ..] = &words[..]
        && first == "side"
    {
        return grain.parse().ok().and_then(|grain| play(side, grain, rest)).unwrap_or_else(|| {
            eprintln!("there is no side {words:?}");
            ExitCode::from(2)
        });
    }
    let arguments = Arguments::parse();
    code_of(run(&arguments))
}

/// Measures as one side.
fn play(side: &str, grain: u64, rest: &[String]) -> Option<ExitCode> {
    if side == "kernel" {
        kernel::measure(Batches { operations: grain, count: 16 }, PROCESSORS);
        return Some(ExitCode::SUCCESS);
    }
    let (words, _options) = rest.split_at_checked(4)?;
    let job = Job::read(grain, words)?;
    match side {
        "ours" => Some(ours::play(job)),
        "threads" => {
            threads::play(job, PROCESSORS);
            Some(ExitCode::SUCCESS)
        }
        #[cfg(feature = "mpi")]
        mpi => {
            let mpi = MPIS.iter().find(|one| one.word == mpi)?;
            Some(code_of(if is_launched() { mpi::play(job, mpi) } else { Err(mpi.launch()) }))
        }
        #[cfg(not(feature = "mpi"))]
        _ => None,
    }
}

/// A side: what tables call it, its word, and the options of its job.
type Named = (&'static str, &'static str, &'static [&'static str]);

fn sides() -> Vec<Named> {
    let mut sides: Vec<Named> = vec![
        ("chare +p 2", "ours", &["+p", "2"]),
        ("chare +n 2", "ours", &["+n", "2", "+p", "1"]),
        ("2 threads", "threads", &[]),
    ];
    #[cfg(feature = "mpi")]
    sides.extend(MPIS.iter().filter(|mpi| mpi.is_here()).map(|mpi| (mpi.name, mpi.word, &[] as &[&str])));
    sides
}

fn run(arguments: &Arguments) -> io::Result<()> {
    let mut libraries = BTreeSet::new();
    println!("METG(50 %), microseconds; {} steps, median of {} rounds", arguments.steps, arguments.rounds);
    let sides = sides();
    let heads: Vec<String> = sides.iter().map(|(name, ..)| format!("{name:>12}")).collect();
    println!("{:<24} {}", "pattern", heads.join(" "));
    for pattern in &arguments.patterns {
        for width in &arguments.widths {
            let job = Job {
                pattern: *pattern,
                width: *width as usize,
                radix: arguments.radix as usize,
                steps: arguments.steps as usize,
                grain: 0,
            };
            let curves = curves(&sides, job, arguments.rounds, &mut libraries)?;
            let cells = curves.iter().map(|samples| {
                metg(samples).map_or_else(|| format!("{:>12}", "-"), |ns| format!("{:>12.2}", ns / 1000.0))
            });
            let pattern = pattern.to_possible_value().expect("no pattern is left out");
            let name = format!("{}-w{width}", pattern.get_name());
            println!("{name:<24} {}", cells.collect::<Vec<_>>().join(" "));
            if let Some(folder) = &arguments.plot {
                let curves = sides.iter().map(|(side, ..)| *side).zip(curves.iter().map(Vec::as_slice));
                let drawn = picture::draw(folder, &name, curves.collect());
                let drawn = drawn.map_err(|error| io::Error::other(error.to_string()))?;
                println!("drawn: {}", drawn.display());
            }
        }
    }
    libraries.iter().for_each(|library| println!("measured with {library}"));
    Ok(())
}

/// The samples of each side, by falling grain: all sides in turn, round after round.
fn curves(
    sides: &[Named],
    job: Job,
    rounds: u32,
    libraries: &mut BTreeSet<String>,
) -> io::Result<Vec<Vec<Efficiency>>> {
    let mut tasks: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
    let mut unit_ns = Vec::new();
    for round in 1..=rounds {
        unit_ns.extend(measure(&["side".to_owned(), "kernel".to_owned(), "100000".to_owned()], libraries)?);
        for (place, grain) in GRAINS.iter().enumerate() {
            eprint!("\rround {round} of {rounds}, grain {grain}   ");
            for (side, (_, word, options)) in sides.iter().enumerate() {
                let mut words = vec!["side".to_owned(), (*word).to_owned()];
                words.extend(Job { grain: *grain, ..job }.words());
                words.extend(options.iter().map(|option| (*option).to_owned()));
                tasks.entry((side, place)).or_default().extend(measure(&words, libraries)?);
            }
        }
    }
    eprint!("\r{:40}\r", "");
    let median = |samples: &[f64]| Spread::of(samples).expect("a side without samples is an error").median;
    let unit_ns = median(&unit_ns);
    let sample =
        |side, place: usize| Efficiency::new(median(&tasks[&(side, place)]), GRAINS[place] as f64 * unit_ns);
    let samples = |side| (0..GRAINS.len()).map(|place| sample(side, place)).collect();
    Ok((0..sides.len()).map(samples).collect())
}
