//! Jobs over several hosts: `chare-run` reaches them through a remote shell, TCP and libfabric carry what they say.
//!
//! Each host is a network namespace (`lab`), where a server of ssh may stand (`ssh`). It needs the right to make one; without it every test here is skipped, and says so.

mod lab;
mod middle;
mod ssh;

use chare_tests::{Outcome, Program};
use lab::Lab;
use middle::{Attack, Deed};
use ssh::{Ssh, alias};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A dead host is told after some ten seconds; the program starts before, and ends after.
const CUT_PATIENCE: Duration = Duration::from_secs(60);

/// Ways to the other hosts, and what `+stats` calls them.
fn fabrics() -> Vec<(&'static str, String)> {
    let fabrics = [("", "tcp".to_owned()), ("+lrts tcp +nocma", "tcp".to_owned())].into_iter();
    #[cfg(feature = "ofi")]
    let fabrics = fabrics.chain(
        chare_tests::providers(&["tcp;ofi_rxm", "net"], "hosts").into_iter().flat_map(|provider| {
            let (beside, alone) = match provider {
                "net" => ("+ofi net", "+lrts ofi +ofi net"),
                _ => ("+ofi tcp;ofi_rxm", "+lrts ofi +ofi tcp;ofi_rxm"),
            };
            [beside, alone].map(|options| (options, format!("ofi ({provider})")))
        }),
    );
    fabrics.collect()
}

/// The launcher's arguments for `nodes` nodes on all hosts of a laboratory.
fn arguments(lab: &Lab, nodes: u32, program: &str) -> String {
    format!("-n {nodes} --hosts {} --remote-shell {} {program}", lab.addresses(), lab.shell().display())
}

fn chare_run() -> Program {
    Program::binary(env!("CARGO_BIN_EXE_launch-run"))
}

/// Two nodes on each host and traffic of every kind, all of it checked.
fn play(hosts: u32, options: &str) -> Option<(Outcome, Vec<u64>)> {
    let lab = Lab::new(hosts)?;
    let checked = env!("CARGO_BIN_EXE_checked");
    let program = format!("{checked} --rounds 3 --mark unused +stats {options}");
    let outcome = chare_run().run(&arguments(&lab, 2 * hosts, &program));
    let sent = (1..=hosts).map(|host| lab.sent_bytes(host)).collect();
    Some((outcome, sent))
}

#[test]
fn two_and_four_hosts_share_nothing_but_the_network() {
    for (options, fabric) in fabrics() {
        for hosts in [2, 4] {
            let Some((outcome, sent)) = play(hosts, options) else { return };
            assert_eq!(outcome.code, Some(0), "{hosts} hosts, `{options}`: {outcome:?}");
            assert!(outcome.stdout.lines().any(|line| line == "right"), "{outcome:?}");
            let path = |peer: u32| {
                let start = format!("node 0 -> node {peer}: messages by ");
                outcome.stdout.lines().find_map(|line| line.strip_prefix(&start)).expect("`+stats` says it")
            };
            let near = if options.contains("+lrts") { &fabric[..] } else { "shm" };
            assert!(path(1).starts_with(near), "{hosts} hosts, `{options}`, one host: {}", path(1));
            for far in 2..2 * hosts {
                assert!(path(far).starts_with(&fabric), "{hosts} hosts, `{options}`: {}", path(far));
                assert!(!path(far).contains("mapping") && !path(far).contains("CMA"), "{}", path(far));
            }
            // Each round moves four buffers of 400 kB from the last PE of a host to the first of the next.
            assert!(sent.iter().all(|bytes| *bytes > 3 * 1_000_000), "{hosts} hosts, `{options}`: {sent:?}");
        }
    }
}

#[test]
fn hosts_find_their_own_addresses_and_listen_where_they_are_told() {
    let Some(lab) = Lab::new(2) else { return };
    let run = |options: &str| {
        let program = format!("{} --rounds 1 --mark unused {options}", env!("CARGO_BIN_EXE_checked"));
        // Names that the remote shell alone knows.
        let hosts = format!("--hosts alias.1:2,alias.2:2 --remote-shell {}", lab.shell().display());
        chare_run().run(&format!("-n 4 {hosts} {program}"))
    };
    for options in ["", "+interface port", "+interface 10.203.0.0/24 +ports 7000-7001"] {
        let outcome = run(options);
        assert_eq!(outcome.code, Some(0), "`{options}`: {outcome:?}");
        assert_eq!(outcome.stdout.trim(), "right", "`{options}`: {outcome:?}");
    }
    let outcome = run("+interface lo0");
    assert_ne!(outcome.code, Some(0), "{outcome:?}");
    let clues = ["`+interface lo0`: this host has no interface of this name", "port (10.203.0."];
    assert!(clues.iter().all(|clue| outcome.complaint().contains(clue)), "{outcome:?}");
}

#[test]
fn hosts_have_an_address_before_the_kernel_calls_their_interface_running() {
    let Some(lab) = Lab::new(2) else { return };
    (1..=2).for_each(|host| lab.hold_back(host));
    let program = format!("{} --rounds 1 --mark unused", env!("CARGO_BIN_EXE_checked"));
    assert_eq!(chare_run().pass(&arguments(&lab, 2, &program)).trim(), "right");
}

/// Operations and bytes that nodes of different hosts exchanged, as all nodes count them in `+stats`; each host has `per_host` nodes.
fn counted_between_hosts(stats: &str, per_host: u32) -> (u64, u64) {
    let (mut operations, mut bytes) = (0, 0);
    for (path, used) in stats.lines().filter_map(|line| line.split_once("; used: ")) {
        let mut ends = path.split(" -> ").map(|end| end.trim_start_matches("node ").split(':').next());
        let mut host = || -> Option<u32> { Some(ends.next()??.parse::<u32>().ok()? / per_host) };
        if host().expect("a node") != host().expect("another") {
            for counted in used.split(" bytes)").filter(|start| start.contains('(')) {
                let (before, moved) = counted.rsplit_once('(').expect("operations before their bytes");
                let number = |words: &str| words.split_whitespace().next_back()?.parse::<u64>().ok();
                bytes += number(moved).expect("a number of bytes");
                operations +=
                    before.split_whitespace().rev().find_map(number).expect("a number of operations");
            }
        }
    }
    (operations, bytes)
}

#[test]
fn a_broadcast_goes_to_each_other_host_once() {
    /// One as an ordinary argument and one as a nocopy argument, to four nodes on each of two hosts.
    const BYTES: u64 = 16 << 20;
    const PER_HOST: u32 = 4;
    for (options, _) in fabrics() {
        let Some(lab) = Lab::new(2) else { return };
        let program = format!("{} {BYTES} 0 +stats {options}", env!("CARGO_BIN_EXE_large_bcast"));
        let said = chare_run().pass(&arguments(&lab, 2 * PER_HOST, &program));
        let (_, by_nodes) = counted_between_hosts(&said, PER_HOST);
        let by_ports: u64 = (1..=2).map(|host| lab.sent_bytes(host)).sum();
        for counted in [by_nodes, by_ports] {
            let range = 2 * BYTES..2 * BYTES * 21 / 20;
            assert!(range.contains(&counted), "`{options}`: {by_nodes} and {by_ports} bytes\n{said}");
        }
    }
}

/// Ways whose messages between hosts are counted, by TCP and by a provider of libfabric: who sends how many to whom is decided above them.
fn counted_fabrics() -> impl Iterator<Item = &'static str> {
    let beside_shared_memory = |options: &&str| !options.starts_with("+lrts");
    fabrics().into_iter().map(|(options, _)| options).filter(beside_shared_memory).take(2)
}

/// What crosses between two hosts of four nodes in one round of a collective, in operations and bytes: the difference of two runs.
fn crossings(lab: &Lab, what: &str, options: &str) -> (u64, u64) {
    const PER_HOST: u32 = 4;
    const ROUNDS: u64 = 8;
    let run = |rounds: u64| {
        let program = format!("{} {what} --rounds {rounds} +stats {options}", env!("CARGO_BIN_EXE_crossing"));
        counted_between_hosts(&chare_run().pass(&arguments(lab, 2 * PER_HOST, &program)), PER_HOST)
    };
    let (few, many) = (run(1), run(1 + ROUNDS));
    ((many.0 - few.0) / ROUNDS, (many.1 - few.1) / ROUNDS)
}

#[test]
fn each_host_sends_another_one_message_in_a_collective_and_each_byte_once() {
    /// What each of the members has, one on each node; see the program.
    const BYTES: u64 = 96 << 10;
    let Some(lab) = Lab::new(2) else { return };
    // Rounds whose parts would cross in 16 messages each way, or 4, or 16 times; a message that lends needs another that says it is free.
    for (what, parts) in [("all-to-all", 4), ("all-gather", 8), ("show", 8)] {
        for options in counted_fabrics() {
            let (operations, bytes) = crossings(&lab, what, options);
            let range = parts * BYTES..parts * BYTES * 11 / 10;
            assert!(range.contains(&bytes), "{what}, `{options}`: {operations} operations, {bytes} bytes");
            assert!(operations <= 8, "{what}, `{options}`: {operations} operations, {bytes} bytes");
        }
    }
}

#[test]
fn a_scatter_sends_a_host_what_its_members_get() {
    /// Half of the buffer is for the other host's members.
    const HALF_BYTES: u64 = 384 << 10;
    let Some(lab) = Lab::new(2) else { return };
    for what in ["scatter-rows", "scatter-columns"] {
        for options in counted_fabrics() {
            let (operations, bytes) = crossings(&lab, what, options);
            let range = HALF_BYTES..HALF_BYTES * 11 / 10;
            assert!(range.contains(&bytes), "{what}, `{options}`: {operations} operations, {bytes} bytes");
        }
    }
}

#[test]
fn hosts_are_reached_by_ssh_under_their_aliases() {
    let Some(lab) = Lab::new(2) else { return };
    let ssh = match Ssh::serve(&lab) {
        Ok(ssh) => ssh,
        Err(why) => return println!("skipped: hosts by ssh: {why}"),
    };
    let on = |hosts: &str, program: &str| {
        let shell = ssh.client();
        chare_run().run(&format!("-n 4 --hosts {hosts} --remote-shell {} {program}", shell.display()))
    };
    let both = format!("{},{}", alias(1), alias(2));
    let outcome = on(&both, &format!("{} --rounds 2 --mark unused +stats", env!("CARGO_BIN_EXE_checked")));
    assert_eq!((outcome.code, &outcome.stderr[..]), (Some(0), ""), "{outcome:?}");
    assert!(outcome.stdout.lines().any(|line| line == "right"), "{outcome:?}");
    for (peer, by) in [(1, "shm"), (2, "tcp"), (3, "tcp")] {
        let path = format!("node 0 -> node {peer}: messages by {by}");
        assert!(outcome.stdout.contains(&path), "{}", outcome.stdout);
    }
    let outcome = on(&format!("{},nowhere", alias(1)), env!("CARGO_BIN_EXE_checked"));
    assert!(outcome.code.is_some_and(|code| code != 0), "{outcome:?}");
    for said in
        ["Could not resolve hostname nowhere", "host nowhere was lost: its remote shell exited with code 255"]
    {
        assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    }
}

/// Floods two hosts, pulls a cable in the second round, and looks at how the job ends.
fn cut(options: &str) {
    let Some(lab) = Lab::new(2) else { return };
    let program = format!("{} flood {options}", env!("CARGO_BIN_EXE_probe"));
    let launcher = chare_run().within(CUT_PATIENCE);
    let outcome = launcher.run_watched(&arguments(&lab, 2, &program), |line| {
        if line == "round 1" {
            lab.cut(2);
        }
    });
    assert!(outcome.code.is_some_and(|code| code != 0), "`{options}`: {outcome:?}");
    assert_eq!(outcome.stderr.trim().lines().count(), 1, "`{options}`: {}", outcome.stderr);
    assert!(outcome.stderr.contains("was lost"), "`{options}`: {}", outcome.stderr);
}

#[test]
fn a_cut_link_ends_a_job() {
    // All at a time: each waits until the silence is long enough.
    std::thread::scope(|scope| {
        for (options, _) in fabrics().into_iter().filter(|(options, _)| !options.starts_with("+lrts")) {
            scope.spawn(move || cut(options));
        }
    });
}

#[test]
fn late_and_lost_packets_change_no_result() {
    for (options, _) in fabrics() {
        let Some(lab) = Lab::new(2) else { return };
        if let Err(why) = (1..=2).try_for_each(|host| lab.impair(host, "delay 2ms 1ms loss 1%")) {
            println!("skipped: delay and loss between hosts: {why}");
            return;
        }
        let checked = env!("CARGO_BIN_EXE_checked");
        let said =
            chare_run().pass(&arguments(&lab, 2, &format!("{checked} --rounds 2 --mark unused {options}")));
        assert_eq!(said.trim(), "right", "{options}");
    }
}

/// A job of two hosts with somebody between them; `None` where hosts cannot be made.
fn talk_past(attack: Attack, options: &str) -> Option<Outcome> {
    let lab = Lab::new(2)?;
    if let Err(why) = lab.interpose() {
        println!("skipped: somebody between two hosts: {why}");
        return None;
    }
    let passed = middle::start(&lab, attack);
    let program = format!("{} --rounds 3 --mark unused {options}", env!("CARGO_BIN_EXE_checked"));
    let outcome = chare_run().run(&arguments(&lab, 2, &program));
    assert!(passed.load(Ordering::Relaxed) > attack.frame, "it goes by the middle: {outcome:?}");
    Some(outcome)
}

#[test]
fn who_is_between_two_hosts_can_end_a_job_and_nothing_else() {
    for (deed, frame) in Deed::ALL.into_iter().zip((3..).step_by(5)) {
        for (options, victim) in [("", 1), ("", 2), ("+encrypt", 1)] {
            let Some(outcome) = talk_past(Attack { deed, frame, victim }, options) else { return };
            let what = format!("{deed:?} of frame {frame} for host {victim}, `{options}`: {outcome:?}");
            if deed == Deed::PassOn {
                assert!(outcome.code == Some(0) && outcome.stdout.trim() == "right", "{what}");
                continue;
            }
            // 3 is what a wrong result ends with.
            assert!(outcome.code.is_some_and(|code| code != 0 && code != 3), "{what}");
            assert_eq!(outcome.stderr.trim().lines().count(), 1, "{what}");
            let cause = if deed == Deed::Cut { "was lost" } else { "was changed on the way or forged" };
            assert!(outcome.stderr.contains(cause), "{what}");
        }
    }
}
