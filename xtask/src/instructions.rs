//! Instruction counts of single ways, by callgrind, against the table that is checked in: `benches/instructions/table.csv`.
//!
//! 1. Each way is one of `chare-instructions`, whose program goes it twice, with a shorter and a longer number of repetitions.
//! 2. The difference of the two counts, divided by the difference of the numbers, is what one repetition costs: what starts and ends a job
//!    cancels. No quiet machine is needed.
//! 3. A way that takes more than 2 % more than the table says (5 % where two threads take part, of which the least of three counts is taken) fails the step. One that takes as much less
//!    passes, with the advice to write the table anew, so that what was gained is kept.

use crate::report::Report;
use crate::setup::install_packages;
use crate::step::{Finished, Outcome, built, root, target_directory};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use std::{fs, io};

/// What a way of one thread may take more than the table says, in per cent: counts of one binary repeat to some tenths of a per cent; other
/// versions of the C library, which chooses its copies by the processor, differ by about one.
const TOLERANCE_PERCENT: f64 = 2.0;

/// The same for a way of two threads, one of which looks for messages while the other makes them: counts of one binary differ by two.
const TOLERANCE_OF_TWO_PERCENT: f64 = 5.0;

/// How often a way of two threads is counted; the least counts. Where others keep the processors busy, one count of six has a thread that looks
/// in vain for a tenth of the whole.
const COUNTS_OF_TWO: usize = 3;

/// A way: its name and the two numbers of repetitions.
struct Way {
    name: &'static str,
    numbers: [u64; 2],
    /// How many operations one repetition stands for.
    operations: u64,
    options: &'static [&'static str],
    /// How often it is counted.
    counts: usize,
    tolerance_percent: f64,
}

const ONE_PE: &[&str] = &["+p", "1"];

const fn way(name: &'static str, numbers: [u64; 2]) -> Way {
    Way { name, numbers, operations: 1, options: ONE_PE, counts: 1, tolerance_percent: TOLERANCE_PERCENT }
}

const fn of_two(name: &'static str, numbers: [u64; 2], options: &'static [&'static str]) -> Way {
    Way { options, counts: COUNTS_OF_TWO, tolerance_percent: TOLERANCE_OF_TWO_PERCENT, ..way(name, numbers) }
}

const WAYS: [Way; 14] = [
    way("call", [1_000, 21_000]),
    of_two("aggregated-call", [10_000, 110_000], &["+p", "2"]),
    of_two("other-pe-call", [10_000, 110_000], &["+p", "2"]),
    of_two("remote-call", [500, 4_500], &["+p", "1", "+n", "2", "+lrts", "shm"]),
    way("ask", [500, 5_500]),
    way("ask-suspending", [500, 5_500]),
    way("resume", [1_000, 21_000]),
    way("singleton", [1_280, 6_400]),
    Way { operations: 2, ..way("fork", [256, 4_096]) },
    Way { operations: 2, ..way("fork-async", [256, 4_096]) },
    way("insert", [1_000, 5_000]),
    Way { operations: 1_000, ..way("broadcast", [2, 12]) },
    Way { operations: 1_000, ..way("broadcast-to-movers", [2, 12]) },
    way("contribution", [1_000, 6_000]),
];

/// What to count.
#[derive(clap::Args, Default)]
pub(crate) struct Options {
    /// Ways to count; all without a name
    names: Vec<String>,
    /// Write the table anew
    #[arg(long)]
    write: bool,
}

/// Counts as a step of a longer list.
pub(crate) fn run(options: &Options, report: &mut Report) {
    install_packages(&["valgrind"], report);
    let began = Instant::now();
    let outcome = if Command::new("valgrind").arg("--version").output().is_err() {
        Outcome::Skipped("there is no valgrind".to_owned())
    } else {
        count_all(options).map_or_else(Outcome::Failed, |()| Outcome::Passed)
    };
    let name = "instructions".to_owned();
    report.add(Finished { name, outcome, elapsed: began.elapsed(), output: Vec::new() });
}

fn count_all(options: &Options) -> Result<(), String> {
    let is_wanted =
        |way: &&Way| options.names.is_empty() || options.names.iter().any(|name| name == way.name);
    let unknown = options.names.iter().find(|name| WAYS.iter().all(|way| way.name != **name));
    if let Some(name) = unknown {
        let known: Vec<&str> = WAYS.iter().map(|way| way.name).collect();
        return Err(format!("{name} is no way; there are {}", known.join(", ")));
    }
    let path = root().join("benches/instructions/table.csv");
    let mut table = read_table(&path)?;
    let program = build()?;
    let mut faults = Vec::new();
    // Shown in one piece: other steps say something meanwhile.
    let mut said = format!("\n=== instructions ===\n{:<18} {:>10} {:>10}", "way", "counted", "table");
    for way in WAYS.iter().filter(is_wanted) {
        let counted = least_of_counts(&program, way)?;
        let before = table.insert(way.name.to_owned(), counted);
        let known = before.map_or("-".to_owned(), |count| count.to_string());
        said += &format!("\n{:<18} {counted:>10} {known:>10}", way.name);
        faults.extend(fault(way, counted, before).filter(|_| !options.write));
    }
    println!("{said}");
    if options.write {
        return write_table(&path, &table)
            .map_err(|error| format!("{} cannot be written: {error}", path.display()));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
}

/// What is wrong with a count, if anything is.
fn fault(way: &Way, counted: u64, before: Option<u64>) -> Option<String> {
    let name = way.name;
    let Some(before) = before else {
        return Some(format!("{name} is not in the table: cargo xtask instructions --write"));
    };
    let percent = (counted as f64 - before as f64) * 100.0 / before as f64;
    if percent < -way.tolerance_percent {
        println!(
            "{name} takes {:.1} % less than the table says: keep that by cargo xtask instructions --write",
            -percent
        );
    }
    (percent > way.tolerance_percent)
        .then(|| format!("{name} takes {counted} instructions, {percent:.1} % more than {before}"))
}

/// The count of one operation of a way, which nothing disturbed.
fn least_of_counts(program: &Path, way: &Way) -> Result<u64, String> {
    let first = count(program, way)?;
    (1..way.counts).try_fold(first, |least, _| Ok(least.min(count(program, way)?)))
}

/// One count of one operation of a way.
fn count(program: &Path, way: &Way) -> Result<u64, String> {
    let [short, long] = way.numbers;
    let few = total(program, way, short)?;
    let many = total(program, way, long)?;
    let operations = (long - short) * way.operations;
    many.checked_sub(few).map(|more| (more + operations / 2) / operations).ok_or_else(|| {
        format!("{} took {many} instructions for {long} repetitions, and {few} for {short}", way.name)
    })
}

/// All instructions of a run, of all its processes.
fn total(program: &Path, way: &Way, number: u64) -> Result<u64, String> {
    let directory = target_directory().join("instructions");
    let fresh = fs::remove_dir_all(&directory).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    });
    fresh
        .and_then(|()| fs::create_dir_all(&directory))
        .map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--trace-children=yes", "--quiet"])
        .arg(format!("--callgrind-out-file={}/%p", directory.display()))
        .arg(program)
        .args([way.name, &number.to_string()])
        .args(way.options);
    let output = command.output().map_err(|error| format!("valgrind: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} with {number} ended with {}: {said}", way.name, output.status));
    }
    sum_of_files(&directory).map_err(|error| format!("counts of {}: {error}", way.name))
}

fn sum_of_files(directory: &Path) -> io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(directory)? {
        sum += fs::read_to_string(entry?.path())?.lines().filter_map(total_of).sum::<u64>();
    }
    Ok(sum)
}

/// The number of a line `totals: NUMBER`, which ends a file of callgrind's.
fn total_of(line: &str) -> Option<u64> {
    line.strip_prefix("totals: ")?.trim().parse().ok()
}

/// Builds the program, in release, and finds it.
fn build() -> Result<PathBuf, String> {
    let built = built("build --release --package chare-instructions")?;
    let program = built.iter().find_map(|message| message["executable"].as_str());
    program.map(PathBuf::from).ok_or_else(|| "cargo did not build chare-instructions".to_owned())
}

fn read_table(path: &Path) -> Result<BTreeMap<String, u64>, String> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
    };
    let row = |line: &str| {
        let (name, count) = line.split_once(',')?;
        Some((name.to_owned(), count.parse().ok()?))
    };
    let rows = text
        .lines()
        .skip(1)
        .map(|line| row(line).ok_or(format!("{}: {line}: not `way,instructions`", path.display())));
    rows.collect()
}

fn write_table(path: &Path, table: &BTreeMap<String, u64>) -> io::Result<()> {
    let rows = table.iter().map(|(name, count)| format!("{name},{count}\n"));
    fs::write(path, format!("way,instructions\n{}", rows.collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::{fault, total_of, way};

    #[test]
    fn two_per_cent_more_pass_and_more_do_not() {
        let call = way("call", [1, 2]);
        assert_eq!(fault(&call, 1_020, Some(1_000)), None);
        assert!(fault(&call, 1_021, Some(1_000)).is_some_and(|fault| fault.contains("2.1 % more than 1000")));
        assert_eq!(fault(&call, 900, Some(1_000)), None);
        assert!(fault(&call, 900, None).is_some());
    }

    #[test]
    fn only_the_last_line_of_a_file_has_its_total() {
        assert_eq!(total_of("totals: 123"), Some(123));
        assert_eq!(total_of("summary: 123"), None);
    }
}
