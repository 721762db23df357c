//! Long landings: no PE of their node waits for them, whatever path the bytes take.

use crate::run::run;
use chare_tests::Outcome;
use std::process::Command;

fn landing(options: &str) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_landing"));
    command.args(options.split_whitespace());
    let outcome = run(command);
    assert_eq!(outcome.code, Some(0), "{options}: {outcome:?}");
    outcome
}

/// Ticks and calls of each way of landing.
fn counts(outcome: &Outcome) -> Vec<(String, u64, u64)> {
    let parse = |line: &str| {
        let (way, counts) = line.split_once(": ")?;
        let (ticks, calls) = counts.strip_suffix(" calls")?.split_once(" ticks, ")?;
        Some((way.to_owned(), ticks.parse().ok()?, calls.parse().ok()?))
    };
    outcome.stdout.lines().filter_map(parse).collect()
}

/// A landing takes a thousand pieces, of which a PE alone copies one at most between two entries: so it runs hundreds of entries, and
/// answers, before its landing is over. Where PEs help each other, some entry and some answer come between all the same.
#[test]
fn a_landing_disturbs_nobody() {
    for (options, ticks_min) in [
        ("+n 2 +p 1", 1000),
        ("+n 2 +p 2", 1),
        ("+n 2 +p 2 +lrts cma", 1),
        ("+n 2 +p 1 +lrts emulated", 1),
        ("+n 1 +p 1", 1000),
        ("+n 1 +p 2", 1),
    ] {
        let outcome = landing(options);
        let counts = counts(&outcome);
        assert_eq!(counts.len(), 3, "{options}: {outcome:?}");
        for (way, ticks, calls) in counts {
            let is_posted = way.starts_with("posted");
            assert!(!is_posted || ticks >= ticks_min, "{options}, {way}: {ticks} ticks");
            // Within a process, what is received is handed over, not copied.
            let is_copied = is_posted || options.starts_with("+n 2");
            assert!(!is_copied || calls > 0, "{options}, {way}: nobody answered");
        }
    }
}
