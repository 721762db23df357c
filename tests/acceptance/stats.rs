//! Zero copies and zero encodes, proved by what `+stats` counts.

use crate::run::{Outcome, probe, run};

/// The counter `name` of every line of `+stats`.
fn counters(outcome: &Outcome, name: &str) -> Vec<u64> {
    let lines = outcome.stdout.lines().filter(|line| line.contains(" entries ") && line.contains(" idle "));
    let counters: Vec<u64> = lines
        .map(|line| {
            let mut words = line.split_whitespace().skip_while(|word| *word != name);
            words
                .nth(1)
                .and_then(|word| word.parse().ok())
                .unwrap_or_else(|| panic!("no `{name}` in: {line}"))
        })
        .collect();
    assert!(!counters.is_empty(), "no statistics in:\n{}", outcome.stdout);
    counters
}

#[test]
fn calls_inside_a_process_encode_nothing_and_copy_nothing() {
    let outcome = run(probe("handover +p 2 +stats"));
    assert!(outcome.status.success(), "{outcome:?}");
    for name in ["encodes", "copies", "bytes"] {
        assert_eq!(counters(&outcome, name), [0, 0, 0], "{name}: {outcome:?}");
    }
}

#[test]
fn shareable_buffers_are_read_in_place_by_another_process() {
    let outcome = run(probe("lend +n 2 +stats"));
    assert!(outcome.status.success(), "{outcome:?}");
    assert_eq!(counters(&outcome, "copies"), [0; 4], "{outcome:?}");
    assert!(outcome.stdout.contains("shared mapping"), "the path is named: {outcome:?}");
}

#[test]
fn without_a_mapping_the_same_buffers_are_copied_once_each() {
    for path in ["+lrts cma", "+nolocal", "+lrts emulated"] {
        let outcome = run(probe(&format!("lend +n 2 +stats {path}")));
        assert!(outcome.status.success(), "{path}: {outcome:?}");
        assert_eq!(counters(&outcome, "copies").iter().sum::<u64>(), 10, "{path}: {outcome:?}");
    }
}
