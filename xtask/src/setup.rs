//! Installs what the checks need and the machine lacks: components of the pinned toolchain, by rustup. Never system packages.

use crate::report::Report;
use crate::step::{Finished, Outcome, Step, root};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The tools that checks call; each is there or has a reason why not.
pub(crate) struct Tools {
    pub(crate) rustfmt: Result<(), String>,
    pub(crate) clippy: Result<(), String>,
}

impl Tools {
    /// Runs a step if the tool it needs is there.
    pub(crate) fn run(tool: &Result<(), String>, step: Step) -> Finished {
        match tool {
            Ok(()) => step.run(),
            Err(why) => step.skip(why.clone()),
        }
    }
}

/// Looks for all tools and installs those that are missing.
pub(crate) fn prepare(report: &mut Report) -> Tools {
    Tools {
        rustfmt: find_or_install("rustfmt", &["fmt", "--version"], report),
        clippy: find_or_install("clippy", &["clippy", "--version"], report),
    }
}

fn find_or_install(component: &'static str, question: &[&str], report: &mut Report) -> Result<(), String> {
    let began = Instant::now();
    let result = match answers("cargo", question) {
        true => Ok(()),
        false if !answers("rustup", &["--version"]) => {
            Err(format!("{component} is missing and there is no rustup to install it"))
        }
        false if answers("rustup", &["component", "add", component]) => Ok(()),
        false => Err(format!("{component} is missing and `rustup component add {component}` failed")),
    };
    let outcome = match &result {
        Ok(()) => Outcome::Passed,
        Err(why) => Outcome::Skipped(why.clone()),
    };
    report.add(Finished { name: component, outcome, elapsed: began.elapsed(), output: Vec::new() });
    result
}

/// Whether a program runs and succeeds, silently.
fn answers(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(root())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
