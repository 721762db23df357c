//! Wrappers around backends: traces and faults of real jobs.

use crate::{probe, run};
use chare_tests::{Outcome, Running};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// From the start of a small job to its end, on a busy machine: most of it is the job's own work.
const PATIENCE: Duration = Duration::from_secs(30);

/// Paths that a backend of its own carries.
fn paths() -> Vec<&'static str> {
    let paths = ["+lrts shm", "+lrts emulated", "+lrts tcp +nocma"].into_iter();
    #[cfg(feature = "ofi")]
    let paths =
        paths.chain(crate::ofi::here(&["tcp;ofi_rxm", "shm"]).into_iter().map(|provider| match provider {
            "shm" => "+lrts ofi +ofi shm",
            _ => "+lrts ofi +ofi tcp;ofi_rxm +tags",
        }));
    paths.collect()
}

/// The text of a field in a line of a trace, as it stands there.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!("\"{name}\":"))?;
    Some(rest.split([',', '}']).next()?.trim_matches('"'))
}

/// Frames and their bytes, by (node, event, peer).
fn count_frames(prefix: &Path, nodes: u32) -> BTreeMap<(u32, String, u32), (u64, u64)> {
    let mut counts: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    for node in 0..nodes {
        let text = std::fs::read_to_string(prefix.with_extension(node.to_string())).expect("it was written");
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("["));
        let (mut begun, mut ended) = (0, 0);
        let lines: Vec<&str> = lines.collect();
        let Some(("]", events)) = lines.split_last().map(|(last, events)| (*last, events)) else {
            panic!("no end of node {node}'s trace: {:?}", lines.last());
        };
        // The last event has no comma behind it.
        for line in &events[..events.len() - 1] {
            assert!(line.starts_with('{') && line.ends_with("}},"), "{line}");
            assert_eq!(field(line, "pid"), Some(&node.to_string()[..]), "{line}");
            begun += u32::from(field(line, "ph") == Some("b"));
            ended += u32::from(field(line, "ph") == Some("e"));
            let number = |name| field(line, name).and_then(|text| text.parse::<u32>().ok());
            if let (Some(event @ ("send" | "arrival")), Some(peer), Some(bytes)) =
                (field(line, "name"), number("peer"), number("bytes"))
            {
                let (frames, sum) = counts.entry((node, event.to_owned(), peer)).or_default();
                (*frames, *sum) = (*frames + 1, *sum + u64::from(bytes));
            }
        }
        assert_eq!(begun, ended, "every get and put of node {node} ends");
    }
    counts
}

#[test]
fn a_trace_has_every_frame_at_both_ends() {
    let directory = tempfile::tempdir().expect("there is room");
    for path in paths() {
        let trace = directory.path().join("trace");
        let outcome = run(probe(&format!("lend +n 2 {path} +trace {}", trace.display())));
        assert!(outcome.code == Some(0), "{path}: {outcome:?}");
        let counts = count_frames(&trace, 2);
        for (from, to) in [(0, 1), (1, 0)] {
            let sent = counts.get(&(from, "send".to_owned(), to));
            assert!(sent.is_some(), "{path}: {counts:?}");
            assert_eq!(sent, counts.get(&(to, "arrival".to_owned(), from)), "{path}: {counts:?}");
        }
    }
}

#[test]
fn a_trace_that_cannot_be_written_stops_the_start() {
    let outcome = run(probe("lend +n 2 +trace /no-such-place/trace"));
    assert!(outcome.code != Some(0), "{outcome:?}");
    assert!(outcome.stderr.contains("creating the trace's file failed"), "{}", outcome.stderr);
}

/// Traffic of every kind, all of it checked, with faults.
fn checked(path: &str, faults: &str) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_checked"));
    let arguments = format!("--rounds 4 --mark unused +n 3 +p 2 {path} +fault {faults}");
    Running::start_within(command.args(arguments.split_whitespace()), PATIENCE).end()
}

fn is_right(outcome: &Outcome) -> bool {
    outcome.code == Some(0) && outcome.stdout.trim() == "right" && outcome.stderr.is_empty()
}

#[test]
fn refusals_and_delays_cost_time_alone() {
    for (path, seed) in paths().into_iter().zip(1..) {
        for faults in ["refuse=3", "delay=300", "refuse=5,delay=200"] {
            let outcome = checked(path, &format!("{faults},seed={seed}"));
            assert!(is_right(&outcome), "{path} {faults}: {outcome:?}");
        }
    }
}

#[test]
fn cut_connections_and_noise_end_the_job_with_one_line_or_not_at_all() {
    let mut ended = BTreeMap::new();
    for path in paths() {
        for (faults, seed) in [("drop=300", 1), ("drop=300", 2), ("corrupt=300", 3), ("corrupt=300", 4)] {
            let outcome = checked(path, &format!("{faults},seed={seed}"));
            if is_right(&outcome) {
                continue;
            }
            let line = outcome.stderr.trim();
            let says = ["was lost", "invalid", "cannot decode", "stale", "changed on the way or forged"];
            assert!(outcome.code != Some(0), "{path} {faults}: {outcome:?}");
            assert_eq!(line.lines().count(), 1, "{path} {faults}: {line}");
            assert!(line.contains("node ") && says.iter().any(|word| line.contains(word)), "{path}: {line}");
            *ended.entry(faults).or_insert(0) += 1;
        }
    }
    assert_eq!(ended.len(), 2, "each of the faults struck somewhere: {ended:?}");
}

#[test]
fn a_bit_that_flips_is_always_told() {
    let mut told = 0;
    for (protection, seed) in ["", "+encrypt"].into_iter().cycle().zip(1..=6) {
        let outcome = checked(&format!("+nolocal {protection}"), &format!("flip=200,seed={seed}"));
        if is_right(&outcome) {
            continue;
        }
        let line = outcome.stderr.trim();
        assert!(outcome.code.is_some_and(|code| code != 0), "{protection} {seed}: {outcome:?}");
        assert_eq!(line.lines().count(), 1, "{protection} {seed}: {line}");
        let clues = ["from node ", "was changed on the way or forged"];
        assert!(clues.iter().all(|clue| line.contains(clue)), "{protection} {seed}: {line}");
        told += 1;
    }
    assert!(told > 0, "it struck somewhere");
}

#[test]
fn no_bit_flips_within_a_host_and_that_is_said() {
    for path in ["", "+lrts tcp +nocma"] {
        let outcome = checked(path, "flip=1");
        assert_eq!((outcome.code, outcome.stdout.trim()), (Some(0), "right"), "{path}: {outcome:?}");
        let warnings: Vec<_> = outcome.stderr.lines().collect();
        let says = |line: &&str| line.contains("`+fault flip` changes nothing on the way to 2 nodes");
        assert!(warnings.len() == 3 && warnings.iter().all(says), "each node says so: {outcome:?}");
    }
}
