//! Goals of devices: what the figures of a run say of each, as text, JSON and a picture.

mod goal;
mod judge;
mod results;
mod show;

use crate::step::{Finished, Outcome};
use results::Results;
use std::fs;
use std::path::Path;
use std::time::Instant;

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
