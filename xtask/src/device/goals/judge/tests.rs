//! Goals of given figures: met, missed at their bounds, not measured, and of the software device.

use super::{Goal, Verdict, all};
use crate::device::goals::results::Results;
use crate::device::goals::show;
use serde_json::{Value, json};

fn row(side: &str, (bytes, block): (u64, u64), (median_ns, ceiling_ns): (f64, f64)) -> Value {
    json!({ "side": side, "bytes": bytes, "block": block, "median_ns": median_ns, "ceiling_ns": ceiling_ns })
}

/// A run that meets all goals, each by a hair; `slower` makes ours so many times as slow.
fn run(is_hardware: bool, slower: f64) -> Results {
    let mut results = Results::new(is_hardware);
    let mut add = |name: &str, rows: Vec<Value>| results.add(name, true, &json!({ "rows": rows }));
    ["conformance", "between_nodes", "in_chares"].into_iter().for_each(|name| add(name, Vec::new()));
    let long = 64 << 20;
    for part in ["pack", "unpack", "step"] {
        let cells = [(4, 0.61), (16, 0.81), (64, 0.91)];
        let ours = cells.map(|(block, share)| row("one step", (long, block), (1e6 / share * slower, 1e6)));
        add(part, [ours.to_vec(), vec![row("2-D copy", (long, 4), (2e6, 1e6))]].concat());
    }
    for part in ["stage", "unstage"] {
        let shape = (1 << 20, 64);
        add(
            part,
            vec![
                row("as the model chooses", shape, (1.04e5 * slower, 1e5)),
                row("a copy of rows", shape, (1e5, 1e5)),
            ],
        );
    }
    let vector = (4 << 20, 4);
    add(
        "pipeline",
        vec![
            row("chunks of 256 KiB", vector, (1.2e5 * slower, 1e5)),
            row("chunks of 1 MiB", vector, (3e5, 1e5)),
            row("the copy on the host alone", vector, (0.5e5, 1e5)),
            row("2-D copy, then send", vector, (7e5, 1e5)),
        ],
    );
    add("pingpong_one_process", vec![row("posted", (long, long), (1e5, 1e5))]);
    add(
        "pingpong_two_processes",
        vec![
            row("received", (32, 32), (9.9e3 * slower, 1.0)),
            row("received", (1 << 20, 1 << 20), (1e4, 1.0)),
            row("received", (long, long), (1.2e4, 1.0)),
            row("posted", (long, long), (1.1e5, 1.0)),
        ],
    );
    for part in ["stencil_one_process", "stencil_two_processes"] {
        let with_lines = |mut row: Value, lines: u64| {
            row["lines"] = lines.into();
            row
        };
        add(
            part,
            vec![
                with_lines(row("by nocopy arguments", (4096, 8), (59.0 * slower, 1.0)), 7),
                with_lines(row("by hand", (4096, 8), (100.0, 1.0)), 10),
            ],
        );
    }
    add(
        "halo",
        vec![
            row("one launch", (4096, 8), (10.0, 1.0)),
            row("a launch for each face", (4096, 8), (50.0, 1.0)),
        ],
    );
    add(
        "overlap",
        vec![row("alone", (1, 1), (100.0, 1.0)), row("beside copies", (1, 1), (102.9 * slower, 1.0))],
    );
    results
}

fn verdicts(results: &Results) -> Vec<(&'static str, Verdict)> {
    all(results).iter().map(|goal| (goal.number, goal.verdict)).collect()
}

#[test]
fn goals_are_met_to_their_bounds_and_missed_behind() {
    let met = verdicts(&run(true, 1.0));
    assert!(
        met[..7].iter().all(|(_, verdict)| *verdict == Verdict::Met),
        "{met:?}: {:?}",
        all(&run(true, 1.0))
    );
    let missed = verdicts(&run(true, 1.06));
    assert_eq!(missed[0].1, Verdict::Met, "slow suites pass, too");
    assert!(
        missed[1..7]
            .iter()
            .filter(|(number, _)| *number != "D4")
            .all(|(_, verdict)| *verdict == Verdict::Missed),
        "{missed:?}"
    );
    assert_eq!(verdicts(&run(true, 1.2))[3], ("D4", Verdict::Missed));
}

#[test]
fn the_software_device_shows_correctness_only() {
    let goals = all(&run(false, 1.0));
    assert!(
        goals[..7].iter().all(|goal| goal.verdict == Verdict::CorrectnessOnly && goal.reached.is_none()),
        "{goals:?}"
    );
    assert!(show::text("software", &goals).contains("correctness only"));
}

#[test]
fn what_has_not_run_is_named() {
    let mut results = Results::new(true);
    results.add("pack", false, &Value::Null);
    results.add("conformance", false, &Value::Null);
    let goals = all(&results);
    let why = |number: &str| {
        goals
            .iter()
            .find(|goal| goal.number == number)
            .map(|Goal { verdict, why, .. }| (*verdict, why.as_str()))
    };
    assert_eq!(why("D1"), Some((Verdict::Missed, "failed: conformance")));
    assert_eq!(why("D2"), Some((Verdict::NotMeasured, "pack has failed")));
    assert_eq!(why("D7"), Some((Verdict::NotMeasured, "overlap has not run")));
}

#[test]
fn goals_are_shown_in_three_ways() {
    let goals = all(&run(true, 1.0));
    let (text, values) = (show::text("cuda", &goals), show::values("cuda", &goals));
    assert!(text.contains("D2  met") && text.contains("GPUDirect"), "{text}");
    assert_eq!(values["goals"].as_array().map(Vec::len), Some(8));
    assert_eq!(values["goals"][3]["verdict"], "met");
    let picture = show::picture("cuda", &goals).expect("it can be drawn");
    assert!(picture.contains("D7  met") && picture.contains("times"), "{picture}");
}
