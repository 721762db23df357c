//! Benchmark programs: their options, and their runs as sides of their own comparisons.

use crate::comparison::{Comparison, compare};
use clap::{CommandFactory, FromArgMatches, Parser};
use std::io;
use std::process::ExitCode;

#[derive(Parser)]
struct Arguments {
    /// Rounds; every side runs once in each
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only comparisons whose name contains this
    filter: Option<String>,
    /// Accepted because `cargo bench` passes it
    #[arg(long, hide = true)]
    bench: bool,
}

/// Runs a benchmark: makes its comparisons, or is one of their sides if it was started as `side NAME NUMBER ..`.
///
/// `about` is what `--help` says first. `play` gets the side's name, its number (mostly how many operations make a batch) and the other
/// arguments, and returns `None` if it knows no such side.
pub fn run(
    about: &'static str,
    comparisons: &[Comparison],
    play: impl FnOnce(&str, u64, &[String]) -> Option<ExitCode>,
) -> ExitCode {
    Benchmark::new(about, comparisons).run(play)
}

/// A benchmark that is told more about its comparisons.
#[derive(Clone, Copy, Debug)]
pub struct Benchmark<'a> {
    about: &'static str,
    comparisons: &'a [Comparison],
    is_possible: fn(&Comparison) -> bool,
    conclude: fn(&[Comparison], &[f64]),
}

impl<'a> Benchmark<'a> {
    /// Nothing but what [`run`] is told.
    pub fn new(about: &'static str, comparisons: &'a [Comparison]) -> Self {
        Self { about, comparisons, is_possible: |_| true, conclude: |_, _| () }
    }

    /// Leaves out what this machine cannot compare. `is_possible` says what and why.
    pub fn where_possible(self, is_possible: fn(&Comparison) -> bool) -> Self {
        Self { is_possible, ..self }
    }

    /// Has `conclude` say what follows from the ratios of those comparisons that were made.
    pub fn concluding(self, conclude: fn(&[Comparison], &[f64])) -> Self {
        Self { conclude, ..self }
    }

    /// Runs it, as [`run`] does.
    pub fn run(self, play: impl FnOnce(&str, u64, &[String]) -> Option<ExitCode>) -> ExitCode {
        let words: Vec<String> = std::env::args().skip(1).collect();
        if let [first, side, number, rest @ ..] = &words[..]
            && first == "side"
        {
            let Ok(number) = number.parse() else {
                eprintln!("`{number}` is no number");
                return ExitCode::from(2);
            };
            return play(side, number, rest).unwrap_or_else(|| {
                eprintln!("there is no side `{side}` with the arguments {rest:?}");
                ExitCode::from(2)
            });
        }
        let matches = Arguments::command().about(self.about).get_matches();
        let Arguments { rounds, filter, .. } =
            Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        let filter = filter.unwrap_or_default();
        let is_selected = |one: &&Comparison| one.name.contains(&filter) && (self.is_possible)(one);
        let selected: Vec<Comparison> = self.comparisons.iter().filter(is_selected).copied().collect();
        code_of(compare(&selected, rounds).map(|ratios| (self.conclude)(&selected, &ratios)))
    }
}

/// Success, or failure after saying why.
pub fn code_of(result: io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
