//! Comparisons: their sides run in turn, and each comparison prints one row.

use crate::sample;
use crate::sample::Spread;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::process::{Command, Stdio};

/// A side: this program, started again with these arguments.
pub type Side = &'static [&'static str];

/// A side of ours beside a peer.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// What is measured.
    pub name: &'static str,
    /// How we do it.
    pub ours: Side,
    /// What the peer is.
    pub against: &'static str,
    /// How the peer does it.
    pub peer: Side,
}

/// Runs all sides of all comparisons for `rounds` rounds, prints the table and returns its ratios. A side that serves several
/// comparisons runs once a round.
///
/// # Errors
/// When a side cannot be started, fails or tells no sample; the message names it.
pub fn compare(comparisons: &[Comparison], rounds: u32) -> io::Result<Vec<f64>> {
    if comparisons.is_empty() {
        println!("nothing to compare");
        return Ok(Vec::new());
    }
    let mut samples: BTreeMap<Side, Vec<f64>> = BTreeMap::new();
    let mut libraries = BTreeSet::new();
    for round in 1..=rounds {
        eprint!("\rround {round} of {rounds} ");
        let mut done: Vec<Side> = Vec::new();
        for side in comparisons.iter().flat_map(|comparison| [comparison.ours, comparison.peer]) {
            if !done.contains(&side) {
                samples.entry(side).or_default().extend(measure(side, &mut libraries)?);
                done.push(side);
            }
        }
    }
    eprintln!();
    println!("nanoseconds: median (quartiles)");
    println!("{:<34} {:>28}   {:<34} {:>28} {:>7}", "call", "ours", "against", "peer", "ratio");
    let mut ratios = Vec::with_capacity(comparisons.len());
    for Comparison { name, ours, against, peer } in comparisons {
        let spread = |side| Spread::of(&samples[side]).expect("a side without samples is an error");
        let (ours, peer) = (spread(ours), spread(peer));
        let ratio = ours.median / peer.median;
        println!("{name:<34} {ours:>28}   {against:<34} {peer:>28} {ratio:>7.2}");
        ratios.push(ratio);
    }
    for library in libraries {
        println!("measured with {library}");
    }
    Ok(ratios)
}

/// Runs a side once, this program with these arguments; returns its samples, and adds the libraries that it tells.
///
/// # Errors
/// When the side cannot be started, fails or tells no sample; the message names it.
pub fn measure<Word: AsRef<OsStr>>(side: &[Word], libraries: &mut BTreeSet<String>) -> io::Result<Vec<f64>> {
    let words = || side.iter().map(|word| word.as_ref().to_string_lossy()).collect::<Vec<_>>().join(" ");
    let failed = |why: String| io::Error::other(format!("`{}`: {why}", words()));
    let child = Command::new(std::env::current_exe()?).args(side).stderr(Stdio::inherit()).output()?;
    let text = String::from_utf8_lossy(&child.stdout);
    libraries.extend(text.lines().filter_map(sample::parse_library).map(str::to_owned));
    let samples: Vec<f64> = text.lines().filter_map(sample::parse).collect();
    match (child.status.success(), samples.is_empty()) {
        (true, false) => Ok(samples),
        (true, true) => Err(failed("no sample".to_owned())),
        (false, _) => Err(failed(child.status.to_string())),
    }
}
