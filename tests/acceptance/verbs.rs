//! Programs over RDMA devices: what they print, how a killed node, a lossy and a cut cable end them.
//!
//! `CHARE_TEST_CABLE` names two devices on the two ends of a cable, `eth1` and `eth2`, that tests may spoil; `cargo xtask vm` has them.

use crate::denial::{HALF, count, denied, is_right, is_root};
use crate::kill::kill_one;
use crate::{probe, run};
use chare_lrts::verbs;
use chare_tests::Running;
use std::process::Command;
use std::time::Duration;

/// Whether this machine has a device; a line says so if not.
fn is_here() -> bool {
    match verbs::devices() {
        Ok(devices) if !devices.is_empty() => true,
        Ok(_) => {
            println!("skipped: no RDMA device");
            false
        }
        Err(why) => {
            println!("skipped: {why}");
            false
        }
    }
}

/// The devices of the cable, or a line that says what is skipped.
fn cable() -> Option<String> {
    let cable = std::env::var("CHARE_TEST_CABLE").ok();
    if cable.is_none() {
        println!("skipped: no cable to spoil");
    }
    cable
}

/// A cable of some quality while this lives.
struct Spoiled;

impl Spoiled {
    fn new(quality: &str) -> Self {
        for interface in ["eth1", "eth2"] {
            let words = format!("qdisc replace dev {interface} root netem {quality}");
            let status = Command::new("tc").args(words.split_whitespace()).status().expect("tc is here");
            assert!(status.success(), "tc {words}");
        }
        Self
    }
}

impl Drop for Spoiled {
    fn drop(&mut self) {
        for interface in ["eth1", "eth2"] {
            let words = ["qdisc", "del", "dev", interface, "root"];
            // A cable that stays spoiled fails the tests that follow.
            let _ = Command::new("tc").args(words).status();
        }
    }
}

/// Packets that the cable's devices saw out of their order, or twice.
fn disturbances(cable: &str) -> u64 {
    let count = |device: &str, counter: &str| -> u64 {
        let path = format!("/sys/class/infiniband/{device}/ports/1/hw_counters/{counter}");
        std::fs::read_to_string(path).map_or(0, |text| text.trim().parse().unwrap_or(0))
    };
    let of = |device| {
        ["duplicate_request", "out_of_seq_request", "rcvd_seq_err"]
            .map(|counter| count(device, counter))
            .iter()
            .sum::<u64>()
    };
    cable.split(',').map(of).sum()
}

#[test]
fn devices_listen_at_the_ports_that_are_named() {
    if !is_here() {
        return;
    }
    // A node takes one of the device's, and one for TCP.
    let outcome = run(probe("lend +n 2 +lrts verbs +ports 20000-20003"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    // Of three nodes, two have the same device.
    let outcome = run(probe("lend +n 3 +lrts verbs +ports 20000"));
    assert_ne!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.complaint().contains("`+ports 20000-20000`: none of them is free"), "{outcome:?}");
}

#[test]
fn long_buffers_go_one_sided_and_the_device_is_named() {
    if !is_here() {
        return;
    }
    for (program, devices) in [("lend +n 3 +p 2", None), ("lend +n 2", cable())] {
        let devices = devices.map(|cable| format!("+verbs {cable}")).unwrap_or_default();
        let outcome = run(probe(&format!("{program} +lrts verbs {devices} +stats")));
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        assert!(outcome.stdout.contains("messages by verbs ("), "{outcome:?}");
        assert!(outcome.stdout.contains("one-sided transfers"), "{outcome:?}");
    }
}

#[test]
fn a_device_that_is_not_here_is_refused_with_those_that_are() {
    if !is_here() {
        return;
    }
    for (options, reason) in [
        ("+lrts verbs +verbs nowhere", "there is no device `nowhere`"),
        ("+lrts shm +verbs rxe0", "exclude each other"),
    ] {
        let outcome = run(probe(&format!("lend +n 2 {options}")));
        assert_ne!(outcome.code, Some(0), "{options}: {outcome:?}");
        assert!(outcome.stderr.contains(reason), "{options}: {outcome:?}");
    }
}

#[test]
fn memory_that_may_not_be_pinned_any_more_goes_by_messages() {
    if !is_here() || !is_root() {
        return;
    }
    let options = "--pin-within-limits --deny unpinnable --on 1 +n 2 +lrts verbs +stats";
    let outcome = run(denied(env!("CARGO_BIN_EXE_denied"), options));
    is_right(&outcome);
    // Node 1 cannot offer its memory to node 0, nor use its own for transfers to and from node 0.
    for node in [0, 1] {
        let used = ["one-sided transfers", "emulated transfers"].map(|what| count(&outcome, node, what));
        assert_eq!(used, [HALF, HALF], "{outcome:?}");
        let start = format!("warning: node {node}: ");
        let warnings: Vec<&str> = outcome.stderr.lines().filter(|line| line.starts_with(&start)).collect();
        assert!(matches!(*warnings, [one] if one.contains("ulimit -l")), "{outcome:?}");
    }
}

#[test]
fn a_killed_node_ends_the_job() {
    if is_here() {
        kill_one("+lrts verbs", (1, 0));
        kill_one("+lrts verbs", (4, 3));
    }
}

#[test]
fn a_lossy_cable_loses_no_message() {
    let Some(cable) = cable() else { return };
    let before = disturbances(&cable);
    let _spoiled = Spoiled::new("loss 1% duplicate 1%");
    let outcome = run(probe(&format!("lend +n 2 +lrts verbs +verbs {cable}")));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(disturbances(&cable) > before, "the cable was not lossy");
}

#[test]
fn a_cut_cable_ends_the_job_with_its_cause() {
    let Some(cable) = cable() else { return };
    let job = Running::start(&mut probe(&format!("flood +n 2 +lrts verbs +verbs {cable}")));
    job.wait_for("round", |line| (line == "round 3").then_some(()));
    let _spoiled = Spoiled::new("loss 100%");
    // A packet is sent seven times, a second apart.
    let outcome = job.end_within(Duration::from_secs(60));
    assert_ne!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.complaint().contains("retry"), "{outcome:?}");
}
