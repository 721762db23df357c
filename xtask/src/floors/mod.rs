//! Floors: which modules of a crate may know which, checked against the order in its `FLOORS` (`order` tells how it is written).
//!
//! 1. `source` reads the files of the library as the compiler finds them, and `reading` what each module defines and names.
//! 2. `resolve` draws an arrow from each file to each that defines what it names, through all re-exports.
//! 3. `check` holds the arrows against the order: one that does not lead down is an error, and so is a circle of files.
//! 4. `report` says what is wrong, with files, lines and names.
//!
//! What it does not see:
//! - methods: a call names no file. An inherent `impl` for a type of a lower floor would therefore hide a way up, and is an error
//!   unless `FLOORS` allows it;
//! - trait objects and function pointers: a call through them leads up unseen, which is what they are for;
//! - macros by example: of their bodies, and of calls that do not read as expressions, only paths that start with `crate` count;
//!   what attributes and derives write is not seen at all;
//! - traits that come in through a glob and are used by their methods alone.

mod check;
mod circles;
mod conditions;
mod order;
mod reading;
mod report;
mod resolve;
mod source;
#[cfg(test)]
mod tests;
mod tokens;

use crate::step::{Finished, Outcome, root};
use check::Checked;
use source::Texts;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use std::{fs, io};

/// Folders of the crates that have floors.
const CRATES: [&str; 6] = ["runtime", "lrts", "layout", "device", "macros", "trace"];

/// What to check, and what to show.
#[derive(clap::Args, Default)]
pub(crate) struct Options {
    /// Count the arrows between floors
    #[arg(long)]
    table: bool,
    /// Show only what one module names of another: `delivery pe`, `node/mod model/ids`
    #[arg(long, num_args = 2, value_names = ["FROM", "TO"])]
    why: Option<Vec<String>>,
    /// One crate: runtime, lrts, layout, device, macros or trace
    #[arg(long = "crate", value_name = "NAME", value_parser = CRATES)]
    only: Option<String>,
    /// Root of another workspace
    #[arg(long, hide = true)]
    root: Option<PathBuf>,
}

/// Checks, and says how that ended.
pub(crate) fn run_alone(options: &Options) -> ExitCode {
    match run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("floors: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Checks as a step of a longer list.
pub(crate) fn step() -> Finished {
    println!("\n=== floors ===");
    let began = Instant::now();
    let outcome = run(&Options::default()).map_or_else(Outcome::Failed, |()| Outcome::Passed);
    Finished { name: "floors".to_owned(), outcome, elapsed: began.elapsed(), output: Vec::new() }
}

fn run(options: &Options) -> Result<(), String> {
    let root = options.root.as_deref().unwrap_or(root());
    let crates = CRATES.iter().filter(|name| options.only.as_deref().is_none_or(|only| only == **name));
    let checked = crates.map(|name| check(root, name)).collect::<Result<Vec<Checked>, String>>()?;
    if let Some([from, to]) = options.why.as_deref() {
        return explain(&checked, from, to);
    }
    for checked in &checked {
        let table = if options.table { report::table(checked) } else { Vec::new() };
        table.iter().chain(&report::errors(checked)).for_each(|line| println!("{line}"));
    }
    match checked.iter().map(Checked::errors).sum() {
        0 => Ok(()),
        1 => Err("1 error".to_owned()),
        errors => Err(format!("{errors} errors")),
    }
}

fn explain(checked: &[Checked], from: &str, to: &str) -> Result<(), String> {
    let answers: Vec<Vec<String>> =
        checked.iter().filter_map(|checked| report::why(checked, from, to)).collect();
    if answers.is_empty() {
        return Err(format!(
            "no crate has both {from} and {to}: name files or folders below its src, without .rs"
        ));
    }
    match answers.concat().as_slice() {
        [] => println!("{from} names nothing of {to}"),
        lines => lines.iter().for_each(|line| println!("{line}")),
    }
    Ok(())
}

fn check(root: &Path, name: &str) -> Result<Checked, String> {
    let src = root.join(name).join("src");
    let mut texts = Texts::new();
    read_folder(&src, &src, &mut texts)
        .map_err(|error| format!("{} cannot be read: {error}", src.display()))?;
    let path = root.join(name).join("FLOORS");
    let floors = match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
    };
    Ok(Checked::new(name, &texts, floors.as_deref()))
}

fn read_folder(folder: &Path, src: &Path, texts: &mut Texts) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_folder(&path, src, texts)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let below = path.strip_prefix(src).expect("it lies within").to_string_lossy().replace('\\', "/");
            texts.insert(below, fs::read_to_string(&path)?);
        }
    }
    Ok(())
}
