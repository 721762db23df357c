//! Parts of a run: a program, run once, within the time that is left, and what is kept of it.
//!
//! A part that passes leaves `PART.txt`, with what it said, and mostly `PART.json` and a chart of it, `PART.svg`; that it is there is why it
//! is not run again. One that fails leaves `PART.failed.txt`, and is tried last from then on.

use super::chart;
use crate::family;
use crate::step::{Finished, Outcome};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Rows of figures in what a program said.
pub(super) type Read = fn(&str) -> Result<Vec<Value>, String>;

/// What is kept of a part.
#[derive(Clone, Copy)]
pub(super) enum Keeps {
    /// What it said.
    Words,
    /// The figures that it writes to the file which `--json` names.
    Figures,
    /// The figures that stand in what it said.
    Said(Read),
}

/// A part.
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) command: Command,
    pub(super) keeps: Keeps,
}

/// Where a part leaves its figures.
pub(super) fn figures(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("{name}.json"))
}

/// Where it leaves what it said when it passed.
fn kept(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("{name}.txt"))
}

/// Where it leaves what it said when it failed.
fn failed(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("{name}.failed.txt"))
}

/// Whether a part has passed; `None` if it was not run to its end.
pub(super) fn has_passed(directory: &Path, name: &str) -> Option<bool> {
    if kept(directory, name).exists() {
        return Some(true);
    }
    failed(directory, name).exists().then_some(false)
}

/// The order in which parts are run: those that have failed come last.
pub(super) fn in_order(mut parts: Vec<Part>, directory: &Path) -> Vec<Part> {
    parts.sort_by_key(|part| has_passed(directory, part.name) == Some(false));
    parts
}

impl Part {
    /// Runs it for so long at most, unless it passed before, or no time is left.
    pub(super) fn run(mut self, kind: &str, directory: &Path, patience: Option<Duration>) -> Finished {
        println!("\n=== {} ===", self.name);
        let began = Instant::now();
        let outcome = match (has_passed(directory, self.name), patience) {
            (Some(true), _) => {
                Outcome::Skipped(format!("finished before: {}", kept(directory, self.name).display()))
            }
            (_, None) => Outcome::Skipped("no time is left for it: run this again".to_owned()),
            (_, Some(patience)) => self
                .run_once(kind, directory, patience)
                .unwrap_or_else(|why| Outcome::Failed(why.to_string())),
        };
        Finished { name: self.name.to_owned(), outcome, elapsed: began.elapsed(), output: Vec::new() }
    }

    fn run_once(&mut self, kind: &str, directory: &Path, patience: Duration) -> Result<Outcome, String> {
        let (kept, failed) = (kept(directory, self.name), failed(directory, self.name));
        let figures = figures(directory, self.name);
        if let Keeps::Figures = self.keeps {
            self.command.arg("--json").arg(&figures);
        }
        let program = self.command.get_program().display().to_string();
        let ran = fs::create_dir_all(directory).and_then(|()| bounded(&mut self.command, &failed, patience));
        match ran.map_err(|error| format!("{program}: {error}"))? {
            Outcome::Passed => {}
            outcome => return Ok(outcome),
        }
        self.keep(kind, &failed, &figures)?;
        fs::rename(&failed, &kept).map_err(|error| format!("{}: {error}", kept.display()))?;
        Ok(Outcome::Passed)
    }

    /// Keeps the figures and their chart.
    fn keep(&self, kind: &str, said: &Path, figures: &Path) -> Result<(), String> {
        if let Keeps::Said(read) = self.keeps {
            let said = fs::read_to_string(said).map_err(|error| format!("{}: {error}", said.display()))?;
            let read = json!({ "about": { "kind": kind, "device": kind }, "rows": read(&said)? });
            fs::write(figures, format!("{read:#}\n"))
                .map_err(|error| format!("{}: {error}", figures.display()))?;
        }
        match self.keeps {
            Keeps::Words => Ok(()),
            _ => chart::draw_beside(figures).map_err(|error| format!("its chart: {error}")),
        }
    }
}

/// Runs a program, whose output goes to a file and is shown when it has ended; one that does not end in time is ended.
fn bounded(command: &mut Command, file: &Path, patience: Duration) -> io::Result<Outcome> {
    let output = File::create(file)?;
    let mut child = command.stdout(output.try_clone()?).stderr(output).spawn()?;
    let (process, (ended, end)) = (child.id(), channel());
    // Who waits has the child; it is told of when it has ended.
    thread::spawn(move || ended.send(child.wait()));
    let outcome = match end.recv_timeout(patience) {
        Ok(status) => {
            let status = status?;
            if status.success() { Outcome::Passed } else { Outcome::Failed(status.to_string()) }
        }
        Err(RecvTimeoutError::Timeout) => {
            family::end(process);
            let _ = end.recv();
            Outcome::Failed(format!("ended: it took longer than {} s", patience.as_secs()))
        }
        Err(RecvTimeoutError::Disconnected) => unreachable!("the thread sends before it ends"),
    };
    println!("{}", String::from_utf8_lossy(&fs::read(file)?));
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::{Keeps, Part, bounded, figures, has_passed, in_order};
    use crate::step::{Outcome, target_directory};
    use serde_json::json;
    use std::fs;
    use std::path::PathBuf;
    use std::process::Command;
    use std::time::Duration;

    const PATIENCE: Option<Duration> = Some(Duration::from_secs(60));

    fn script(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn part(name: &'static str, said: &str) -> Part {
        Part { name, command: script(said), keeps: Keeps::Words }
    }

    fn directory(name: &str) -> PathBuf {
        target_directory().join(format!("device-{name}-{}", std::process::id()))
    }

    #[test]
    fn a_part_that_passed_is_not_run_again() {
        let directory = directory("parts");
        let run = |said| part("one", said).run("software", &directory, PATIENCE).outcome;
        assert!(matches!(run("echo no; exit 3"), Outcome::Failed(_)));
        assert_eq!(run("echo yes"), Outcome::Passed);
        assert!(matches!(run("exit 3"), Outcome::Skipped(_)));
        assert_eq!(fs::read_to_string(directory.join("one.txt")).unwrap(), "yes\n");
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn what_failed_is_tried_last_and_what_has_no_time_is_left() {
        let directory = directory("order");
        let parts = || ["one", "two", "three"].map(|name| part(name, "exit 3")).into();
        let order = || in_order(parts(), &directory).iter().map(|part| part.name).collect::<Vec<_>>();
        assert_eq!(order(), ["one", "two", "three"]);
        let one = part("one", "exit 3").run("software", &directory, PATIENCE).outcome;
        assert!(matches!(one, Outcome::Failed(_)));
        assert_eq!(order(), ["two", "three", "one"]);
        assert!(matches!(part("two", "true").run("software", &directory, None).outcome, Outcome::Skipped(_)));
        assert_eq!([has_passed(&directory, "one"), has_passed(&directory, "two")], [Some(false), None]);
        assert_eq!(part("one", "true").run("software", &directory, PATIENCE).outcome, Outcome::Passed);
        assert_eq!(order(), ["one", "two", "three"]);
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn figures_are_read_from_what_a_part_said() {
        let directory = directory("said");
        let read = |said: &str| match said.trim() {
            "8 bytes" => {
                Ok(vec![json!({ "side": "one", "bytes": 8, "block": 8, "median_ns": 2.0, "gib_per_s": 4.0 })])
            }
            other => Err(format!("no figures: {other}")),
        };
        let run = |said| {
            let part = Part { name: "one", command: script(said), keeps: Keeps::Said(read) };
            part.run("software", &directory, PATIENCE).outcome
        };
        assert_eq!(run("echo nothing"), Outcome::Failed("no figures: nothing".to_owned()));
        assert_eq!(has_passed(&directory, "one"), Some(false));
        assert_eq!(run("echo 8 bytes"), Outcome::Passed);
        assert!(figures(&directory, "one").exists() && directory.join("one.svg").exists());
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_part_that_does_not_end_is_ended() {
        let file = directory("part");
        let outcome =
            bounded(&mut script("echo begun; sleep 1000"), &file, Duration::from_millis(300)).unwrap();
        assert_eq!(outcome, Outcome::Failed("ended: it took longer than 0 s".to_owned()));
        fs::remove_file(file).unwrap();
    }
}
