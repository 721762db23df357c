//! Running: each part of what was gathered, once, within the time for which a machine may be lent; then which goals are met.

use super::parts::{DEVICES, folder};
use super::{goals, pack, parts};
use crate::report::Report;
use crate::step::{Finished, Outcome};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// For how long a run may begin and go on with parts: a machine is lent for ten minutes at a time.
const SLOT: Duration = Duration::from_secs(9 * 60 + 30);

/// A part that takes longer is ended: less than half of a slot, so that others get theirs.
const PATIENCE: Duration = Duration::from_secs(4 * 60);

/// With less time a part is not begun: it would only be ended.
const PATIENCE_MIN: Duration = Duration::from_secs(45);

/// How to run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Where there is no CUDA device, run on the software device
    #[arg(long)]
    here: bool,
    /// Few lengths and samples, as always on the software device
    #[arg(long)]
    quick: bool,
    /// Where to keep what the parts say; target/device-results/KIND without
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(super) fn run(options: &Options, report: &mut Report) {
    let (began, folder) = (Instant::now(), folder());
    let unpacked = pack::unpack(&folder).map_err(Outcome::Failed);
    let kind = match unpacked.and_then(|()| find_kind(&folder, options.here)) {
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
    // More figures of the software device would say no more.
    let is_quick = options.quick || kind == "software";
    println!("on {kind}; kept in {}", directory.display());
    for part in super::part::in_order(parts::all(&folder, kind, is_quick), &directory) {
        report.add(part.run(kind, &directory, patience(began.elapsed())));
    }
    report.add(goals::conclude(kind, &directory));
}

/// How long a part may take that begins when so much of the slot is over.
fn patience(elapsed: Duration) -> Option<Duration> {
    let left = SLOT.saturating_sub(elapsed);
    (left >= PATIENCE_MIN).then(|| left.min(PATIENCE))
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

#[cfg(test)]
mod tests {
    use super::{PATIENCE, PATIENCE_MIN, SLOT, patience};
    use std::time::Duration;

    #[test]
    fn parts_end_with_the_slot() {
        assert_eq!(patience(Duration::ZERO), Some(PATIENCE));
        assert_eq!(patience(SLOT - Duration::from_secs(60)), Some(Duration::from_secs(60)));
        assert_eq!(patience(SLOT - PATIENCE_MIN), Some(PATIENCE_MIN));
        assert_eq!(patience(SLOT - PATIENCE_MIN + Duration::from_millis(1)), None);
        assert_eq!(patience(SLOT * 2), None);
    }
}
