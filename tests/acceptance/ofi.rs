//! Programs over libfabric: what they print, what is refused, how a killed node ends them.

use crate::kill::kill_one;
use crate::{probe, run};
use chare_tests::chaos::campaign::Campaign;
use chare_tests::chaos::plan::Path;

/// The providers of this machine that the test names, or a line that says what is skipped.
pub(crate) fn here(wanted: &[&'static str]) -> Vec<&'static str> {
    chare_tests::providers(wanted, "programs")
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
fn tags_tell_of_what_was_changed_on_the_way() {
    for provider in here(&["tcp;ofi_rxm", "shm"]) {
        let with = |fault: &str| run(probe(&format!("lend +n 2 +lrts ofi +ofi {provider} +tags {fault}")));
        let whole = with("+stats");
        assert_eq!(whole.code, Some(0), "{provider}: {whole:?}");
        assert!(whole.stdout.contains(&format!("messages by ofi ({provider}) (authenticated)")), "{whole:?}");
        let broken = with("+fault corrupt=5");
        assert_ne!(broken.code, Some(0), "{provider}: {broken:?}");
        assert!(broken.stderr.contains("over ofi was changed on the way or forged"), "{}", broken.stderr);
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

#[test]
fn thirty_broken_jobs_over_sockets_end_as_they_must() {
    if here(&["tcp;ofi_rxm"]).is_empty() {
        return;
    }
    let program = env!("CARGO_BIN_EXE_checked").into();
    let path = Some(Path::Ofi);
    let campaign = Campaign { program, runs: 30, seed: 2_000_000, path, fault: None, at_a_time: 2 };
    let summary = campaign.run(|| ());
    println!("{summary}");
    assert!(summary.failures.is_empty(), "{summary}");
}
