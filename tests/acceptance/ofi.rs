//! Programs over libfabric: what they print, what is refused, how a killed node ends them.

use crate::kill::kill_one;
use crate::run::{probe, run};
use chare_lrts::ofi;

/// The providers of this machine that the test names, or a line that says what is skipped.
fn here(wanted: &[&'static str]) -> Vec<&'static str> {
    let found = ofi::providers().unwrap_or_else(|why| {
        println!("skipped: {why}");
        Vec::new()
    });
    let is_here = |provider: &&&str| found.iter().any(|name| name == **provider);
    wanted.iter().filter(is_here).copied().collect()
}

#[test]
fn long_buffers_go_one_sided_and_the_provider_is_named() {
    for provider in here(&["tcp;ofi_rxm", "net", "shm"]) {
        let outcome = run(probe(&format!("lend +n 2 +lrts ofi +ofi {provider} +stats")));
        assert_eq!(outcome.code, Some(0), "{provider}: {outcome:?}");
        assert!(outcome.stdout.contains(&format!("messages by ofi ({provider})")), "{outcome:?}");
        assert!(outcome.stdout.contains("one-sided transfers"), "{provider}: {outcome:?}");
    }
}

#[test]
fn the_best_provider_is_chosen_when_none_is_named() {
    if !here(&["tcp;ofi_rxm"]).is_empty() {
        let outcome = run(probe("lend +n 3 +p 2 +lrts ofi"));
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
    }
}

#[test]
fn unsuitable_providers_are_refused_with_the_reason() {
    if here(&["tcp;ofi_rxm"]).is_empty() {
        return;
    }
    for (options, reason) in [
        ("+lrts ofi +ofi tpc", "no provider `tpc`"),
        ("+lrts ofi +ofi UDP", "UDP"),
        ("+lrts shm +ofi net", "exclude each other"),
    ] {
        let outcome = run(probe(&format!("lend +n 2 {options}")));
        assert_ne!(outcome.code, Some(0), "{options}: {outcome:?}");
        assert!(outcome.stderr.contains(reason), "{options}: {}", outcome.stderr);
    }
}

#[test]
fn a_killed_node_ends_the_job() {
    if !here(&["tcp;ofi_rxm"]).is_empty() {
        kill_one("+lrts ofi", (1, 0));
        kill_one("+lrts ofi", (4, 3));
    }
}
