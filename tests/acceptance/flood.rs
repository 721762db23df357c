//! Floods: the memory of the flooded node and of those that flood it stays bounded, and nothing is lost.
//!
//! `CHARE_TEST_FLOOD` sets how many messages each sender sends; `cargo xtask soak` makes them ten million.

use chare_tests::Running;
use std::process::Command;
use std::time::Duration;

/// Messages of each sender in the suite: without a bound they take some 200 MiB.
const MESSAGES: u64 = 1_000_000;

/// The most that a node may grow by: a window of what arrives from each of up to three others, as much that waits to be sent to one, room for
/// silences of some tenths of a second on a busy machine, and what allocators and queues keep.
const GROWTH_BYTES_MAX: u64 = 128 << 20;

/// The most that a process may grow by whose PEs leave each other a thousand small messages at most: a few megabytes, where a million
/// take 70.
const MAILBOX_GROWTH_BYTES_MAX: u64 = 16 << 20;

/// Ten million messages take a minute on two busy cores.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

fn messages() -> u64 {
    std::env::var("CHARE_TEST_FLOOD").ok().and_then(|count| count.parse().ok()).unwrap_or(MESSAGES)
}

/// Runs a flood and returns the most that any of its nodes grew by.
fn flood(pattern: &str, count: u64, options: &str) -> u64 {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flooded"));
    command.args([pattern, &count.to_string()]).args(options.split_whitespace());
    let outcome = Running::start_within(&mut command, PATIENCE).end();
    assert_eq!(outcome.code, Some(0), "{pattern} {options}: {outcome:?}");
    println!("{pattern} {options}: {}", outcome.stdout.trim());
    let words: Vec<&str> = outcome.stdout.split_whitespace().collect();
    words[words.len() - 2].parse().expect("bytes")
}

#[track_caller]
fn stays_bounded(pattern: &str, count: u64, options: &str) {
    let growth = flood(pattern, count, options);
    assert!(growth < GROWTH_BYTES_MAX, "{pattern} {options}: a node grew by {growth} bytes");
}

#[test]
fn a_flood_of_one_node_by_another_stays_bounded_on_every_path() {
    for options in ["+n 2", "+n 2 +nolocal", "+n 2 +lrts emulated"] {
        stays_bounded("pair", messages(), options);
    }
}

/// A PE that hears nothing for half a second is left no more than its mailbox holds, and the one that sends it a million messages waits.
#[test]
fn a_flood_between_pes_of_a_process_stays_bounded_where_mailboxes_are() {
    for pattern in ["deaf", "early"] {
        let growth = flood(pattern, messages(), "+p 2 +mailbox 1000");
        assert!(growth < MAILBOX_GROWTH_BYTES_MAX, "{pattern}: the process grew by {growth} bytes");
    }
}

/// PEs that flood each other cannot wait for each other, within a process or across.
#[test]
fn pes_with_bounded_mailboxes_that_flood_each_other_lose_nothing() {
    for options in ["+p 2 +mailbox 1000", "+p 3 +mailbox 1", "+n 2 +p 2 +mailbox 100"] {
        flood("circle", MESSAGES / 4, options);
    }
    flood("funnel", MESSAGES / 4, "+p 3 +mailbox 64");
}

/// Before the first `.await` of `main` no entry runs, and no collection that it has created is there: it lets both be when it has to wait.
#[test]
fn a_flood_from_main_before_its_first_await_stays_bounded() {
    for options in ["+n 2", "+n 3 +p 2"] {
        stays_bounded("early", messages(), options);
    }
}

/// A node that hears nothing for a while is told no more than its credit holds.
#[test]
fn a_flood_of_a_node_that_is_busy_stays_bounded_there() {
    for options in ["+n 2", "+n 2 +nolocal"] {
        stays_bounded("deaf", messages(), options);
    }
}

/// Of two PEs in a process one floods the other as well, and what they leave for each other has no bound.
#[test]
fn a_flood_of_one_node_by_all_others_stays_bounded() {
    stays_bounded("funnel", messages() / 3, "+n 4");
    stays_bounded("funnel", MESSAGES / 3, "+n 2 +p 2");
}

/// The caller's own members are called, too: what waits for them is on their own PE, and has no bound.
#[test]
fn a_flood_of_calls_of_all_members_stays_bounded_elsewhere() {
    stays_bounded("calls", MESSAGES / 4, "+n 3");
}

/// Messages sent in a circle before anything runs have to be somewhere: they are all there in the end.
#[test]
fn nodes_that_flood_each_other_in_a_circle_lose_nothing() {
    flood("circle", MESSAGES / 4, "+n 2");
    flood("circle", MESSAGES / 4, "+n 3 +nolocal");
}
