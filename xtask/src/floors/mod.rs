//! Floors: which modules of a crate may know which, and what they may take from outside, checked against the crate's `FLOORS` (`order` tells
//! how it is written).
//!
//! 1. `files` finds the files of the library and of programs as the compiler does, and `reading` what each module defines and names: `source`.
//! 2. `resolve` draws an arrow from each file to each that defines what it names, through all re-exports, and collects what other crates define.
//! 3. `check` holds the arrows against the order: one that does not lead down is an error, and so is a circle of files. `outside` does so
//!    with what other crates define, and `names` with types that must be the only ones of their name.
//! 4. `report` says what is wrong, with files, lines and names.
//!
//! What it does not see:
//! - methods: a call names no file. An inherent `impl` for a type of a lower floor would therefore hide a way up, and is an error
//!   unless `FLOORS` allows it;
//! - trait objects and function pointers: a call through them leads up unseen, which is what they are for;
//! - macros by example: of their bodies, and of calls that do not read as expressions, only paths that start with `crate` or `std` count;
//!   what attributes and derives write is not seen at all;
//! - methods of what other crates define: `elapsed` of an `Instant` reads a clock, and its type is seen alone where it is named;
//! - traits that come in through a glob and are used by their methods alone.

mod check;
mod circles;
mod conditions;
mod files;
mod names;
mod order;
mod outside;
mod reading;
mod report;
mod resolve;
mod source;
#[cfg(test)]
mod tests;
mod tokens;

use crate::step::{Finished, Outcome, root};
use check::Checked;
use files::Texts;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use std::{fs, io};

/// A crate that has floors: its folder, and the folders of its library and programs. Tests that cargo runs are no part of it.
struct Home {
    folder: &'static str,
    homes: &'static [&'static str],
}

const SRC: &[&str] = &["src"];

const CRATES: [Home; 13] = [
    Home { folder: "runtime", homes: SRC },
    Home { folder: "lrts", homes: SRC },
    Home { folder: "lrts/mpi-sys", homes: SRC },
    Home { folder: "lrts/ofi-sys", homes: SRC },
    Home { folder: "layout", homes: SRC },
    Home { folder: "device", homes: SRC },
    Home { folder: "macros", homes: SRC },
    Home { folder: "trace", homes: SRC },
    Home { folder: "examples", homes: SRC },
    Home { folder: "benches", homes: &["src", "benches"] },
    Home { folder: "tests", homes: SRC },
    Home { folder: "fuzz", homes: SRC },
    Home { folder: "xtask", homes: SRC },
];

/// What to check, and what to show.
#[derive(clap::Args, Default)]
pub(crate) struct Options {
    /// Count the arrows between floors
    #[arg(long)]
    table: bool,
    /// Show only what one module names of another: `delivery pe`, `node/mod model/ids`
    #[arg(long, num_args = 2, value_names = ["FROM", "TO"])]
    why: Option<Vec<String>>,
    /// One crate, by its folder: `lrts`, `lrts/mpi-sys`
    #[arg(long = "crate", value_name = "FOLDER", value_parser = CRATES.map(|home| home.folder))]
    only: Option<String>,
    /// Show only the names of types that several files of one crate define
    #[arg(long)]
    names: bool,
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
    let crates = CRATES.iter().filter(|home| options.only.as_deref().is_none_or(|only| only == home.folder));
    let mut checked = crates.map(|home| check(root, home)).collect::<Result<Vec<Checked>, String>>()?;
    if options.names {
        let repeated = checked.iter().flat_map(|checked| names::repeated(&checked.source));
        repeated.for_each(|line| println!("{line}"));
        return Ok(());
    }
    if let Some([from, to]) = options.why.as_deref() {
        return explain(&checked, from, to);
    }
    check::compare_names(&mut checked);
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

fn check(root: &Path, home: &Home) -> Result<Checked, String> {
    let folder = root.join(home.folder);
    let mut texts = Texts::new();
    for part in home.homes {
        let part = folder.join(part);
        read_folder(&part, &folder, &mut texts)
            .map_err(|error| format!("{} cannot be read: {error}", part.display()))?;
    }
    let path = folder.join("FLOORS");
    let floors = match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
    };
    Ok(Checked::new(home.folder, &texts, floors.as_deref()))
}

fn read_folder(folder: &Path, home: &Path, texts: &mut Texts) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_folder(&path, home, texts)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let below = path.strip_prefix(home).expect("it lies within").to_string_lossy().replace('\\', "/");
            texts.insert(below, fs::read_to_string(&path)?);
        }
    }
    Ok(())
}
