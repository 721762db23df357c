//! Zero copies and zero encodes, proved by the counts of `+stats`.

use crate::{probe, run};
use chare_tests::{Outcome, Row, counted};

/// The counter `name` of every PE, and of what happened outside of PEs.
fn counters(outcome: &Outcome, name: &str) -> Vec<u64> {
    let rows = Row::all(&outcome.stdout).into_iter().filter(|row| !row.is_sum());
    let counters: Vec<u64> = rows.filter_map(|row| row.count(name)).collect();
    assert!(!counters.is_empty(), "no statistics in:\n{}", outcome.stdout);
    counters
}

#[test]
fn tables_fit_a_terminal_and_have_their_sums() {
    let outcome = run(probe("lend +n 2 +p 2 +stats +times"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let rows = Row::all(&outcome.stdout);
    assert_eq!(rows.iter().filter(|row| row.name.starts_with("PE ")).count(), 4, "{outcome:?}");
    for node in ["node 0", "node 1"] {
        assert!(rows.iter().any(|row| row.name == format!("{node} in all")), "{outcome:?}");
    }
    let entries = counted(&outcome.stdout, "entries");
    assert!(entries >= 10 && counted(&outcome.stdout, "sent") >= entries, "{outcome:?}");
    let of_tables = |line: &&str| {
        ["PE ", "node 0 ran", "node 0  ", "node 1 ran"].iter().any(|start| line.starts_with(start))
            || line.contains(" in all")
    };
    let lines: Vec<&str> = outcome.stdout.lines().filter(of_tables).collect();
    assert!(lines.iter().all(|line| line.len() <= 100), "{lines:#?}");
    // Where the time went, by entry, the longest first.
    let ran = |name: &str| lines.iter().any(|line| line.contains(" ran ") && line.ends_with(name));
    assert!(ran("  probe::Member::borrow") && ran("  main") && ran("  in all"), "{lines:#?}");
}

#[test]
fn calls_inside_a_process_encode_nothing_and_copy_nothing() {
    let outcome = run(probe("handover +p 2 +stats"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    for name in ["encodes", "copies", "bytes"] {
        assert_eq!(counters(&outcome, name), [0, 0, 0], "{name}: {outcome:?}");
    }
}

#[test]
fn shareable_buffers_are_read_in_place_by_another_process() {
    let outcome = run(probe("lend +n 2 +stats"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert_eq!(counters(&outcome, "copies"), [0; 4], "{outcome:?}");
    assert!(outcome.stdout.contains("shared mapping"), "the path is named: {outcome:?}");
}

#[test]
fn without_a_mapping_the_same_buffers_are_copied_once_each() {
    for path in ["+lrts cma", "+nolocal", "+lrts emulated"] {
        let outcome = run(probe(&format!("lend +n 2 +stats {path}")));
        assert_eq!(outcome.code, Some(0), "{path}: {outcome:?}");
        assert_eq!(counters(&outcome, "copies").iter().sum::<u64>(), 10, "{path}: {outcome:?}");
    }
}

#[test]
fn what_cannot_be_registered_is_copied_counted_and_told_once() {
    for path in ["", "+lrts cma", "+nolocal", "+lrts emulated"] {
        let outcome = run(probe(&format!("lend full +n 2 +stats {path}")));
        assert_eq!(outcome.code, Some(0), "{path}: {outcome:?}");
        assert_eq!(counters(&outcome, "copies").iter().sum::<u64>(), 10, "{path}: {outcome:?}");
        assert!(
            outcome.complaint().starts_with("warning: node 0: no more memory can be registered"),
            "{outcome:?}"
        );
    }
}

/// Copies in each of six processes: node 0, its four children in the tree of nodes, and the child of node 1.
fn copies_in_six(arguments: &str) -> [u64; 6] {
    let outcome = run(probe(&format!("{arguments} +n 6 +p 2 +stats")));
    assert_eq!(outcome.code, Some(0), "{arguments}: {outcome:?}");
    let mut copies = [0; 6];
    // What comes down the tree is copied for the node: such copies stand in its row, not in those of its PEs.
    for row in Row::all(&outcome.stdout).iter().filter(|row| row.name.ends_with(" outside")) {
        let node: usize =
            row.name.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("node NUMBER outside");
        copies[node] = row.count("copies").expect("a row of counters");
    }
    let pes = counters(&outcome, "copies").iter().sum::<u64>() - copies.iter().sum::<u64>();
    assert_eq!(pes, 0, "{outcome:?}");
    copies
}

#[test]
fn a_broadcast_is_copied_once_into_each_process_that_cannot_map_it() {
    assert_eq!(copies_in_six("proclaim shareable"), [0; 6], "all map the sender's memory");
    for path in ["+lrts cma", "+noshm", "+nolocal", "+lrts emulated"] {
        for kind in ["shareable", "plain"] {
            assert_eq!(
                copies_in_six(&format!("proclaim {kind} {path}")),
                [0, 10, 10, 10, 10, 10],
                "{kind} {path}"
            );
        }
    }
    assert_eq!(copies_in_six("proclaim plain"), [0, 10, 10, 10, 10, 0], "node 5 maps node 1's copy");
}

#[test]
fn small_broadcasts_are_copied_into_one_frame_and_posted_ones_once_for_each_member() {
    assert_eq!(copies_in_six("proclaim small"), [10, 10, 0, 0, 0, 0]);
    assert_eq!(copies_in_six("proclaim posted"), [20; 6]);
    assert_eq!(copies_in_six("proclaim posted +nolocal"), [20, 30, 30, 30, 30, 30]);
}

#[test]
fn a_large_readonly_value_is_there_once_in_each_process_or_mapped() {
    assert_eq!(copies_in_six("readonly shareable"), [0; 6], "all map one copy");
    for path in ["+lrts cma", "+noshm", "+nolocal", "+lrts emulated"] {
        assert_eq!(copies_in_six(&format!("readonly shareable {path}")), [0, 1, 1, 1, 1, 1], "{path}");
    }
    for path in ["", "+noshm", "+nolocal", "+lrts emulated"] {
        assert_eq!(copies_in_six(&format!("readonly plain {path}")), [0, 1, 1, 1, 1, 1], "{path}");
    }
}

#[test]
fn a_layout_that_the_peer_keeps_is_not_told_again() {
    let outcome = run(probe("select +n 2 +stats"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    // A layout is told when it comes the third time. From then on the receiver steps through the sender's memory, on its PE's own thread.
    let rows: Vec<Row> =
        Row::all(&outcome.stdout).into_iter().filter(|row| row.count("stepped").is_some()).collect();
    let stepped = rows.iter().find(|row| row.name == "PE 1, layouts").and_then(|row| row.count("stepped"));
    assert_eq!(stepped, Some(19), "{outcome:?}");
    let counted =
        ["stepped", "packed", "sieved", "vectored", "helped"].map(|name| counted(&outcome.stdout, name));
    assert_eq!(counted, [19, 2, 0, 0, 0], "{outcome:?}");
    // An index takes two bytes or more, so that telling them all each time would take 200 KB.
    let bytes = counters(&outcome, "bytes").iter().sum::<u64>();
    assert!((10_000..40_000).contains(&bytes), "{bytes} bytes: {outcome:?}");
}

#[test]
fn what_protects_a_path_is_told() {
    for (options, words) in [
        ("+nolocal", "messages by tcp (authenticated), memory by emulated over tcp"),
        ("+nolocal +encrypt", "messages by tcp (sealed), memory by emulated over tcp"),
        ("+nolocal +clear", "messages by tcp (in clear), memory by emulated over tcp"),
        ("+lrts tcp +nocma +encrypt", "messages by tcp, memory by emulated over tcp"),
    ] {
        let outcome = run(probe(&format!("lend +n 2 +stats {options}")));
        assert_eq!(outcome.code, Some(0), "{options}: {outcome:?}");
        assert!(outcome.stdout.contains(words), "{options}: {outcome:?}");
    }
}

/// The line of `+stats` for what a node did with the first nocopy argument of `Member::borrow`.
fn way(outcome: &Outcome, end: &str) -> Vec<String> {
    let start = format!("{end} probe::Member::borrow, nocopy argument 1: ");
    outcome.stdout.lines().filter_map(|line| line.strip_prefix(&start)).map(str::to_owned).collect()
}

#[test]
fn the_way_of_an_argument_is_told_with_its_reason() {
    let of_all = "10 times (8000000 bytes), because";
    let fetched = "fetched {} the memory is not mapped";
    for (options, sent, received) in [
        ("", "its receiver maps the memory", "read in place {} the memory is mapped"),
        ("+lrts cma", "the kernel copies it from process to process", fetched),
        ("+nolocal", "messages fetch it", fetched),
    ] {
        let outcome = run(probe(&format!("lend +n 2 +stats {options}")));
        assert_eq!(outcome.code, Some(0), "{options}: {outcome:?}");
        let told = |line: &str| line.replace("{}", of_all);
        let sent = format!("lent {{}} {sent}");
        assert_eq!(way(&outcome, "node 0 sent"), [told(&sent)], "{options}: {outcome:?}");
        assert_eq!(way(&outcome, "node 1 received"), [told(received)], "{options}: {outcome:?}");
    }
}

#[test]
fn a_packed_argument_says_why() {
    let (mapped, mapped_here) = ("its receiver maps the memory", "the memory is mapped");
    let unknown = "its receiver does not keep the layout yet";
    let costs = "to pack it costs less than the vectors of the kernel";
    for (options, sent, received) in [
        // A layout is told when it comes the third time. What is packed lies in the pool, which is mapped.
        (
            "",
            vec![("lent", 19, mapped), ("packed", 2, unknown)],
            vec![("copied by one pass", 19, mapped_here), ("read in place", 2, mapped_here)],
        ),
        (
            "+layouts pack",
            vec![("packed", 21, "`+layouts pack` says so")],
            vec![("read in place", 21, mapped_here)],
        ),
        ("+lrts cma", vec![("packed", 21, costs)], vec![("fetched", 21, "the memory is not mapped")]),
    ] {
        let outcome = run(probe(&format!("select +n 2 +stats {options}")));
        assert_eq!(outcome.code, Some(0), "{options}: {outcome:?}");
        let told = |ways: Vec<(&str, u64, &str)>| -> Vec<String> {
            let line = |(way, times, reason)| {
                format!("{way} {times} times ({} bytes), because {reason}", times * 40_000)
            };
            ways.into_iter().map(line).collect()
        };
        assert_eq!(way(&outcome, "node 0 sent"), told(sent), "{options}: {outcome:?}");
        assert_eq!(way(&outcome, "node 1 received"), told(received), "{options}: {outcome:?}");
    }
}
