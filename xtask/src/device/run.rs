//! Running: each part of what was gathered, once, within the time for which a machine may be lent.
//!
//! A part that passes leaves `PART.txt`, with what it said, and mostly `PART.json` and a chart of it, `PART.svg`; that it is there is why it
//! is not run again. One that fails leaves `PART.failed.txt`.

use super::{CONFORMANCE, DEVICES, chart, folder};
use crate::family;
use crate::report::Report;
use crate::step::{Finished, Outcome};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A part that takes longer is ended: less than half of the ten minutes for which a machine is lent at a time, so that others get theirs.
const PATIENCE: Duration = Duration::from_secs(4 * 60);

/// How to run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Where there is no CUDA device, run on the software device
    #[arg(long)]
    here: bool,
    /// Few lengths and samples
    #[arg(long)]
    quick: bool,
    /// Where to keep what the parts say; target/device-results/KIND without
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Parts of the benchmark, in order of worth.
const MEASURED: [&str; 5] = ["pack", "unpack", "pipeline", "stage", "unstage"];

pub(super) fn run(options: &Options, report: &mut Report) {
    let folder = folder();
    let kind = match find_kind(&folder, options.here) {
        Ok(kind) => kind,
        Err(outcome) => {
            let (elapsed, output) = (Duration::ZERO, Vec::new());
            return report.add(Finished { name: "probe".to_owned(), outcome, elapsed, output });
        }
    };
    let quick = if options.quick { "-quick" } else { "" };
    let results = options.output.clone().unwrap_or_else(|| folder.with_file_name("device-results"));
    // Parts of another kind are others: none of them was finished before.
    let directory = results.join(format!("{kind}{quick}"));
    println!("on {kind}; kept in {}", directory.display());
    let devices = |part: &str| {
        let mut command = Command::new(folder.join(DEVICES));
        command.args(["--device", kind, part]).args(options.quick.then_some("--quick"));
        command
    };
    let mut smi = Command::new("nvidia-smi");
    smi.arg("-q");
    if smi_is_here() {
        report.add(part("nvidia-smi", smi, &directory));
    }
    report.add(part("probe", devices("probe"), &directory));
    let mut conformance = Command::new(folder.join(CONFORMANCE));
    // Only those of this kind; those that start processes start this program.
    conformance.arg(format!("{kind}::"));
    report.add(part(CONFORMANCE, conformance, &directory));
    for name in MEASURED {
        let mut command = devices(name);
        let figures = directory.join(format!("{name}.json"));
        command.arg("--json").arg(&figures);
        let mut finished = part(name, command, &directory);
        if finished.outcome == Outcome::Passed
            && let Err(error) = chart::draw_beside(&figures)
        {
            finished.outcome = Outcome::Failed(format!("its chart: {error}"));
        }
        report.add(finished);
    }
}

/// Which kind of device is measured, or why none is.
fn find_kind(folder: &Path, here: bool) -> Result<&'static str, Outcome> {
    let program = folder.join(DEVICES);
    let probed = Command::new(&program).args(["--device", "cuda", "probe"]).output();
    let probed = probed.map_err(|error| {
        Outcome::Failed(format!("{}: {error}: run `cargo xtask device pack` before", program.display()))
    })?;
    let said = String::from_utf8_lossy(&probed.stdout);
    match said.lines().find_map(|line| line.strip_prefix("skipped: ")) {
        None => Ok("cuda"),
        Some(why) if here => {
            println!("{why}");
            Ok("software")
        }
        Some(why) => Err(Outcome::Skipped(format!("{why}; `--here` takes the software device"))),
    }
}

fn smi_is_here() -> bool {
    Command::new("nvidia-smi").arg("-L").output().is_ok_and(|listed| listed.status.success())
}

/// Runs a part, unless it ran to its end before.
fn part(name: &str, mut command: Command, directory: &Path) -> Finished {
    println!("\n=== {name} ===");
    let (began, kept) = (Instant::now(), directory.join(format!("{name}.txt")));
    let outcome = if kept.exists() {
        Outcome::Skipped(format!("finished before: {}", kept.display()))
    } else {
        let failed = directory.join(format!("{name}.failed.txt"));
        let ran = fs::create_dir_all(directory).and_then(|()| bounded(&mut command, &failed, PATIENCE));
        match ran {
            Ok(Outcome::Passed) => fs::rename(&failed, &kept)
                .map_or_else(|error| Outcome::Failed(error.to_string()), |()| Outcome::Passed),
            Ok(outcome) => outcome,
            Err(error) => Outcome::Failed(format!("{}: {error}", command.get_program().display())),
        }
    };
    Finished { name: name.to_owned(), outcome, elapsed: began.elapsed(), output: Vec::new() }
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
    use super::{bounded, part};
    use crate::step::{Outcome, target_directory};
    use std::fs;
    use std::process::Command;
    use std::time::Duration;

    fn script(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_part_that_passed_is_not_run_again() {
        let directory = target_directory().join(format!("device-parts-{}", std::process::id()));
        assert!(matches!(part("one", script("echo no; exit 3"), &directory).outcome, Outcome::Failed(_)));
        assert_eq!(part("one", script("echo yes"), &directory).outcome, Outcome::Passed);
        assert!(matches!(part("one", script("exit 3"), &directory).outcome, Outcome::Skipped(_)));
        assert_eq!(fs::read_to_string(directory.join("one.txt")).unwrap(), "yes\n");
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_part_that_does_not_end_is_ended() {
        let file = target_directory().join(format!("device-part-{}", std::process::id()));
        let outcome =
            bounded(&mut script("echo begun; sleep 1000"), &file, Duration::from_millis(300)).unwrap();
        assert_eq!(outcome, Outcome::Failed("ended: it took longer than 0 s".to_owned()));
        fs::remove_file(file).unwrap();
    }
}
