//! Goals of devices: what the figures of a run say of each, as text, JSON and a picture.

mod judge;
mod results;
mod show;

use crate::step::{Finished, Outcome};
use results::Results;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// What the figures say of a goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Met,
    Missed,
    /// The software device has shown that the programs are right; of a device its figures say nothing.
    CorrectnessOnly,
    NotMeasured,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::CorrectnessOnly => "correctness only",
            Self::NotMeasured => "not measured",
        }
    }
}

/// A goal, and what was found.
#[derive(Clone, PartialEq, Debug)]
struct Goal {
    number: &'static str,
    what: &'static str,
    verdict: Verdict,
    /// The figures, or why there are none.
    why: String,
    /// The figure that is closest to missing it, in times of what the goal asks for: 1 or more is met.
    reached: Option<f64>,
}

/// What one device of one machine cannot show, whatever the goals say.
const NOT_SHOWN: &str = "One device cannot show: NVLink, GPUDirect (networks that reach devices), transfers between two devices, CUDA-aware MPI and UCX beside ours. \
     Two processes on it take turns, unless MPS runs: quartiles that lie far apart are both modes.";

/// Judges what a run has left, and keeps `goals.txt`, `goals.json` and `goals.svg` beside it.
pub(super) fn conclude(kind: &str, directory: &Path) -> Finished {
    println!("\n=== goals ===");
    let began = Instant::now();
    let outcome = keep(kind, directory).map_or_else(Outcome::Failed, |()| Outcome::Passed);
    Finished { name: "goals".to_owned(), outcome, elapsed: began.elapsed(), output: Vec::new() }
}

fn keep(kind: &str, directory: &Path) -> Result<(), String> {
    let goals = judge::all(&Results::read(kind, directory)?);
    let text = show::text(kind, &goals);
    println!("{text}");
    let picture = show::picture(kind, &goals).map_err(|error| format!("its picture: {error}"))?;
    let contents = [("txt", text), ("json", format!("{:#}\n", show::values(kind, &goals))), ("svg", picture)];
    for (ending, content) in contents {
        let file = directory.join(format!("goals.{ending}"));
        fs::write(&file, content).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(())
}
