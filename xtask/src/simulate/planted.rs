//! Planted faults: patches that each break a promise of the runtime, all built into one copy of the tree, where a variable chooses which of
//! them is there. A campaign that does not find one says so.
//!
//! 1. Patches lie in `tests/simulation/planted`, in a file for each area, and each begins with `Name:` and the fault's. What it changes it
//!    does only if `planted("NAME")`, which is a function of the copy alone.
//! 2. Behind that, `Fault:` says what is wrong, `Found by:` what is to find it, and `Mix:` which test binaries come to that place.
//! 3. The copy is what is committed. Its build is an ordinary one, with a target of its own.

use super::failure::Failure;
use super::minimise::minimise;
use super::mix::{Mix, Run};
use crate::step::{root, target_directory};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Programs that take longer with one seed, in milliseconds, look for no faults: dozens of quick ones come to the same places.
const LONGEST_MS: u64 = 2_000;

/// The most seeds of a run that goes on when one program has found the fault.
const ALL_PROGRAMS_SEEDS: u64 = 4;

const PATCHES: &str = "tests/simulation/planted";

/// What the copy's `chare-lrts` has beside its own.
const SWITCH: &str = r#"
/// Whether the fault of this name is to be there.
#[doc(hidden)]
pub fn planted(fault: &str) -> bool {
    static CHOSEN: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    CHOSEN.get_or_init(|| std::env::var("CHARE_PLANTED").ok()).as_deref() == Some(fault)
}
"#;

/// How to look for faults.
pub(super) struct Search<'a> {
    pub(super) profile: &'a str,
    pub(super) first: u64,
    pub(super) seeds: u64,
    /// Parts of names, with commas between them.
    pub(super) wanted: &'a str,
}

/// A fault.
struct Fault {
    name: String,
    /// What `patch` takes, which passes over what is in front.
    patch: String,
    what: String,
    /// What is to find it.
    oracle: String,
    /// Names of test binaries.
    mix: Vec<String>,
}

impl Fault {
    /// Reads a fault behind its `Name:`.
    ///
    /// # Errors
    /// What it lacks, in words.
    fn read(text: &str) -> Result<Self, String> {
        let (name, patch) = text.split_once('\n').unwrap_or((text, ""));
        let name = name.trim().to_owned();
        let lacks = |what: &str| format!("the planted fault {name}: it lacks {what}");
        let line = |head: &str| {
            let found = patch.lines().find_map(|line| line.strip_prefix(head));
            found.map(|rest| rest.trim().to_owned()).ok_or_else(|| lacks(head))
        };
        if !patch.contains(&format!("planted(\"{name}\")")) {
            return Err(lacks(&format!("`planted(\"{name}\")`")));
        }
        let (what, oracle, mix) = (line("Fault:")?, line("Found by:")?, line("Mix:")?);
        let mix = mix.split(',').map(|name| name.trim().to_owned()).collect();
        Ok(Self { patch: patch.to_owned(), name, what, oracle, mix })
    }
}

/// Builds the copy and looks for each fault.
///
/// # Errors
/// What was not found, or could not be tried, in words.
pub(super) fn run(search: &Search<'_>) -> Result<(), String> {
    let faults = faults()?;
    let tree = copy(&faults)?;
    let is_wanted = |fault: &&Fault| search.wanted.split(',').any(|part| fault.name.contains(part));
    let faults: Vec<&Fault> = faults.iter().filter(is_wanted).collect();
    let names: BTreeSet<String> = faults.iter().flat_map(|fault| fault.mix.iter().cloned()).collect();
    let mix = Mix::build(
        (&tree, &tree.with_extension("target")),
        search.profile,
        &names.into_iter().collect::<Vec<_>>(),
    )?;
    let (mut programs, mut sound) = (BTreeMap::new(), true);
    for binary in mix.binaries() {
        // Without a fault, which also tells which tests have programs for simulated jobs. Who fails then finds no fault.
        let ran = mix.run(binary, &Run::of_seeds(search.first, 1));
        ran.failures.iter().for_each(|failure| println!("without any fault, {failure}"));
        let fails = |test: &String| ran.failures.iter().any(|failure| failure.test == *test);
        let quick = ran.tests().into_iter().filter(|(test, took)| *took <= LONGEST_MS && !fails(test));
        programs.insert(binary.name.clone(), quick.map(|(test, _)| test).collect::<Vec<String>>());
        sound &= ran.failures.is_empty();
    }
    println!("\n{:<34} {:>6} {:>8}  found by", "fault", "seed", "seconds");
    let mut hidden = Vec::new();
    for fault in &faults {
        let began = Instant::now();
        let found = find(&mix, &programs, fault, search);
        let seconds = began.elapsed().as_secs_f64();
        let job = |failure: &&Failure| failure.job.as_ref().map(|job| (job.seed, job.messages));
        match found.iter().min_by_key(|failure| job(failure).map_or(u64::MAX, |(seed, _)| seed)) {
            Some(first) => {
                let seed = job(&first).map_or_else(|| "?".to_owned(), |(seed, _)| seed.to_string());
                let said: String = first.said.chars().take(110).collect();
                let Failure { binary, test, .. } = first;
                println!("{:<34} {seed:>6} {seconds:>8.1}  {said} [{binary}: {test}]", fault.name);
                let shortest =
                    found.iter().min_by_key(|one| job(one).map_or(u64::MAX, |(_, messages)| messages));
                let shortest = shortest.unwrap_or(first);
                println!("  {}", minimise(&mix, shortest, Some(&fault.name), search.profile));
            }
            None => {
                println!(
                    "{:<34} {:>6} {seconds:>8.1}  NOT FOUND: {} ({})",
                    fault.name, "-", fault.what, fault.oracle
                );
                hidden.push(fault.name.as_str());
            }
        }
    }
    let all = faults.len();
    println!("{} of {all} found", all - hidden.len());
    match (hidden.is_empty(), sound) {
        (true, true) => Ok(()),
        (true, false) => Err("programs failed without any fault".to_owned()),
        (false, _) => Err(format!("not found: {}", hidden.join(", "))),
    }
}

/// Looks for a fault by more and more seeds; returns the failures of the first test binary that has any.
fn find(
    mix: &Mix,
    programs: &BTreeMap<String, Vec<String>>,
    fault: &Fault,
    search: &Search<'_>,
) -> Vec<Failure> {
    let (mut first, end, mut batch) = (search.first, search.first + search.seeds, 1);
    while first < end {
        let seeds = batch.min(end - first);
        for binary in fault.mix.iter().filter_map(|name| mix.binary(name)) {
            let filter = programs[&binary.name].clone();
            let planted = Some(fault.name.clone());
            // What is found soon is found by many programs, of which one needs the fewest messages.
            let stops = seeds > ALL_PROGRAMS_SEEDS;
            let run = Run { filter, is_exact: true, stops, planted, ..Run::of_seeds(first, seeds) };
            let failures = mix.run(binary, &run).failures;
            if !failures.is_empty() {
                return failures;
            }
        }
        (first, batch) = (first + seeds, batch * 4);
    }
    Vec::new()
}

/// # Errors
/// What is wrong with the files, in words.
fn faults() -> Result<Vec<Fault>, String> {
    let entries = fs::read_dir(root().join(PATCHES)).map_err(|error| format!("{PATCHES}: {error}"))?;
    let mut patches: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    patches.retain(|path| path.extension().is_some_and(|ending| ending == "patch"));
    patches.sort();
    let mut faults = Vec::new();
    for file in patches {
        let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let of_file = format!("\n{text}");
        for fault in of_file.split("\nName:").skip(1) {
            faults.push(Fault::read(fault)?);
        }
    }
    Ok(faults)
}

/// Copies what is committed, with all faults; returns the copy. What has not changed since the last one stays as old as it is, so that Cargo
/// does not build it again.
///
/// # Errors
/// Which step failed, in words.
fn copy(faults: &[Fault]) -> Result<PathBuf, String> {
    let tree = target_directory().join("planted");
    let fresh = tree.with_extension("fresh");
    let said = |error: std::io::Error| format!("{}: {error}", tree.display());
    if fresh.exists() {
        fs::remove_dir_all(&fresh).map_err(said)?;
    }
    fs::create_dir_all(&fresh).map_err(said)?;
    let mut archive = Command::new("git");
    archive.current_dir(root()).args(["archive", "HEAD"]).stdout(Stdio::piped());
    let mut archive = archive.spawn().map_err(said)?;
    let mut unpack = Command::new("tar");
    unpack.args(["-x", "-C"]).arg(&fresh).stdin(archive.stdout.take().expect("it is piped"));
    must(&mut unpack, "unpacking the copy")?;
    archive.wait().map_err(said)?;
    let switch = fresh.join("lrts/src/lib.rs");
    let lines = fs::read_to_string(&switch).map_err(said)? + SWITCH;
    fs::write(&switch, lines).map_err(said)?;
    for fault in faults {
        apply(&fresh, fault)?;
    }
    take_over(&fresh, &tree).map_err(said)?;
    fs::remove_dir_all(&fresh).map_err(said)?;
    Ok(tree)
}

/// Makes a folder the same as a fresh one, and touches only what differs.
fn take_over(fresh: &Path, folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match (fresh.join(entry.file_name()).exists(), entry.file_type()?.is_dir()) {
            (true, _) => {}
            (false, true) => fs::remove_dir_all(entry.path())?,
            (false, false) => fs::remove_file(entry.path())?,
        }
    }
    for entry in fs::read_dir(fresh)? {
        let entry = entry?;
        let (from, to) = (entry.path(), folder.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            take_over(&from, &to)?;
        } else if fs::read(&to).ok() != Some(fs::read(&from)?) {
            fs::copy(&from, &to)?;
        }
    }
    Ok(())
}

fn apply(tree: &Path, fault: &Fault) -> Result<(), String> {
    let what = format!("the patch of {} does not fit the tree any more", fault.name);
    let mut patch = Command::new("patch");
    patch.current_dir(tree).args(["--strip=1", "--forward", "--silent"]).stdin(Stdio::piped());
    let mut patch = patch.spawn().map_err(|error| format!("{what}: {error}"))?;
    let taken = patch.stdin.take().expect("it is piped").write_all(fault.patch.as_bytes());
    let status = taken.and_then(|()| patch.wait()).map_err(|error| format!("{what}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{what}: {status}")) }
}

fn must(command: &mut Command, what: &str) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{what}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{what}: {status}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_says_what_it_is_and_which_oracle_is_to_find_it() {
        let faults = faults().unwrap_or_else(|cause| panic!("{cause}"));
        assert!(faults.len() >= 20, "{}", faults.len());
        for fault in faults {
            assert!(!fault.what.is_empty() && !fault.oracle.is_empty() && !fault.mix.is_empty());
        }
    }
}
