//! `cargo xtask book`: the book as HTML, in `target/book`.

use crate::report::Report;
use crate::setup::Tools;
use crate::step::{Outcome, Step, target_directory};
use std::path::PathBuf;
use std::process::Command;

/// The version that the book is written for; another one is replaced by it.
const VERSION: &str = "0.5.4";

/// Builds the book, if there is something to build it with.
pub(crate) fn run(report: &mut Report) {
    let mdbook = find_mdbook(report);
    report.add(Tools::run(&mdbook, step().aside()));
}

/// The program that builds the book.
pub(crate) fn step() -> Step {
    Step::program("book", program()).argument("build").argument("docs/book")
}

/// Looks for mdBook among the project's own tools and builds it there if it is missing, once. Without optimisation: that would take
/// minutes, and the book is small.
pub(crate) fn find_mdbook(report: &mut Report) -> Result<(), String> {
    if is_there() {
        return Ok(());
    }
    let install = format!(
        "install --locked --debug --no-default-features --features search mdbook --version {VERSION}"
    );
    let step = Step::cargo("mdbook", &install).argument("--root").argument(tools()).aside();
    let mut finished = step.run();
    let result = match &finished.outcome {
        Outcome::Failed(why) => Err(format!("`cargo {install}` failed ({why})")),
        _ => Ok(()),
    };
    if let Err(why) = &result {
        finished.outcome = Outcome::Skipped(why.clone());
    }
    report.add(finished);
    result
}

/// Named after what it can do: an installation without search is another one.
fn tools() -> PathBuf {
    target_directory().join("tools/mdbook-search")
}

fn program() -> PathBuf {
    tools().join("bin").join("mdbook")
}

fn is_there() -> bool {
    let output = Command::new(program()).arg("--version").output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(VERSION))
}
