//! Timelines of `+trace`: what a viewer reads is JSON of the trace event format, complete and consistent, and `chare-trace` sums it up.

use chare_tests::{Program, counted};
use chare_trace::{Summary, Timeline, describe, draw, find_files, merge, write_tables};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

fn text<'a>(event: &'a Value, field: &str) -> &'a str {
    event[field].as_str().unwrap_or_else(|| panic!("a text `{field}` in {event}"))
}

fn number(event: &Value, field: &str) -> f64 {
    event[field].as_f64().unwrap_or_else(|| panic!("a number `{field}` in {event}"))
}

/// Nanoseconds: whole numbers, which can be compared.
fn ns(event: &Value, field: &str) -> i64 {
    (number(event, field) * 1e3).round() as i64
}

fn place(event: &Value) -> (u64, u64) {
    let [pid, tid] = ["pid", "tid"].map(|field| event[field].as_u64());
    (pid.expect("a process"), tid.expect("a thread"))
}

/// Checks an event against what the format's document asks of its phase.
fn check_event(event: &Value) {
    assert!(!text(event, "name").is_empty() && event["args"].is_object(), "{event}");
    place(event);
    let phase = text(event, "ph");
    if phase == "M" {
        return;
    }
    assert!(number(event, "ts") > 0.0 && !text(event, "cat").is_empty(), "{event}");
    match phase {
        "X" => assert!(number(event, "dur") >= 0.0, "{event}"),
        "i" => assert!(["t", "p", "g"].contains(&text(event, "s")), "{event}"),
        "C" => assert!(event["args"]["value"].is_number(), "{event}"),
        "b" | "e" | "s" => assert!(!text(event, "id").is_empty(), "{event}"),
        "f" => assert_eq!((text(event, "bp"), text(event, "id").is_empty()), ("e", false), "{event}"),
        _ => panic!("no event of ours has this phase: {event}"),
    }
}

/// Begin and end of all spans of each thread. They nest.
fn nested(events: &[Value]) -> BTreeMap<(u64, u64), Vec<(i64, i64)>> {
    let mut spans: BTreeMap<_, Vec<(i64, i64)>> = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let begun = ns(event, "ts");
        spans.entry(place(event)).or_default().push((begun, begun + ns(event, "dur")));
    }
    for spans in spans.values_mut() {
        spans.sort_by_key(|(begun, ended)| (*begun, -*ended));
        let mut open: Vec<i64> = Vec::new();
        for (begun, ended) in &*spans {
            open.retain(|end| end > begun);
            assert!(open.last().is_none_or(|end| ended <= end), "a span leaves the one it is in");
            open.push(*ended);
        }
    }
    spans
}

/// Every message leaves within a span, and is the begin of another one's, on the PE that it names, or of none.
fn check_messages(events: &[Value]) -> usize {
    let spans = nested(events);
    let of = |phase: &'static str| events.iter().filter(move |event| event["ph"] == phase);
    let mut sent: HashMap<&str, &Value> = HashMap::new();
    for event in of("s") {
        assert!(sent.insert(text(event, "id"), event).is_none(), "two messages of one name: {event}");
        let at = ns(event, "ts");
        let is_within = spans[&place(event)].iter().any(|(begun, ended)| (*begun..=*ended).contains(&at));
        assert!(is_within, "{event}");
    }
    let mut arrows = 0;
    for event in of("f") {
        let begin = sent.remove(text(event, "id")).unwrap_or_else(|| panic!("nobody sent it: {event}"));
        assert!(place(begin) != place(event) && ns(begin, "ts") <= ns(event, "ts"), "{begin} {event}");
        assert!(spans[&place(event)].iter().any(|(begun, _)| *begun == ns(event, "ts")), "{event}");
        arrows += 1;
    }
    assert!(sent.is_empty(), "messages that nothing came of: {sent:?}");
    arrows
}

fn read_strictly(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("it was written");
    serde_json::from_str(&text).unwrap_or_else(|cause| panic!("{}: {cause}", path.display()))
}

#[test]
fn a_timeline_shows_every_entry_and_every_message_between_pes() {
    let folder = tempfile::tempdir().expect("there is room");
    for (mode, path) in [("view", ""), ("messages", "+nolocal"), ("awaited", "+lrts emulated")] {
        let trace = folder.path().join(mode);
        let options = format!("+n 2 +p 2 +stats {path} +trace {}", trace.display());
        let said =
            Program::example("stencil3d").pass(&format!("16 8 --iterations 5 --mode {mode} {options}"));
        let files = find_files(&trace).expect("they are there");
        assert_eq!(files.len(), 2, "one for each node");
        let events: Vec<Value> = files.iter().flat_map(|file| read_strictly(file)).collect();
        events.iter().for_each(check_event);
        let arrows = check_messages(&events);
        let of = |kind: &'static str| events.iter().filter(move |event| event["cat"] == kind);
        assert_eq!(of("entry").count() as u64, counted(&said, "entries"), "{mode}: {said}");
        // Each of eight blocks is constructed, once; every PE is idle, some time.
        assert_eq!(of("constructor").count(), 8, "{mode}");
        assert!(of("idle").count() >= 4, "{mode}");
        assert!(of("runtime").any(|event| event["name"] == "reductions"), "{mode}");
        assert!(of("task").any(|event| event["name"] == "main"), "{mode}");
        assert_eq!(
            events.iter().filter(|event| event["ph"] == "b").count(),
            events.iter().filter(|event| event["ph"] == "e").count()
        );

        let timeline = Timeline::read(&files).expect("they are whole");
        let summary = Summary::of(&timeline, 10);
        assert_eq!(summary.messages.iter().map(|row| row.messages).sum::<u64>(), arrows as u64, "{mode}");
        assert_eq!((summary.single_ends, summary.dropped), (0, 0), "{mode}");
        assert_eq!(
            summary.pes.iter().map(|row| row.entries).sum::<u64>(),
            counted(&said, "entries"),
            "{mode}"
        );
        for share in summary.profile.iter().chain(summary.pes.iter().map(|row| &row.share)) {
            let told = share.program + share.runtime + share.idle;
            assert!((0.0..=1.000_001).contains(&told), "{mode}: {share:?}");
        }
        let frames = events.iter().filter(|event| event["name"] == "send").count() as u64;
        assert_eq!(summary.network.iter().map(|row| row.frames).sum::<u64>(), frames, "{mode}");
        assert!(describe(&summary, 5).contains("Messages between PEs"), "{mode}");

        let merged = folder.path().join("merged.json");
        merge(&files, &merged).expect("there is room");
        assert_eq!(read_strictly(&merged).len(), events.len(), "{mode}");
        let again = Timeline::read(&[merged]).expect("it is whole");
        assert_eq!(Summary::of(&again, 10), summary, "{mode}");

        write_tables(&summary, &folder.path().join("tables")).expect("there is room");
        let entries =
            std::fs::read_to_string(folder.path().join("tables/entries.csv")).expect("it was written");
        assert_eq!(entries.lines().count(), 1 + summary.entries.len(), "{mode}: {entries}");
        let picture = folder.path().join("picture.svg");
        draw(&timeline, &summary, &picture).expect("there is room");
        let svg = std::fs::read_to_string(picture).expect("it was written");
        assert!(svg.trim_end().ends_with("</svg>") && svg.contains("PE 3"), "{mode}");
    }
}

#[test]
fn a_timeline_shows_the_messages_of_sections() {
    let folder = tempfile::tempdir().expect("there is room");
    let trace = folder.path().join("trace");
    Program::example("leanmd").pass(&format!("--cells 3 --steps 4 +n 2 +p 2 +trace {}", trace.display()));
    let files = find_files(&trace).expect("they are there");
    let events: Vec<Value> = files.iter().flat_map(|file| read_strictly(file)).collect();
    check_messages(&events);
    // A multicast begins in an entry of a cell, and is the sections' work where it comes to.
    let of = |phase: &'static str| events.iter().filter(move |event| event["ph"] == phase);
    let spans = |chosen: fn(&Value) -> bool| -> Vec<_> {
        let chosen = of("X").filter(|span| chosen(span));
        chosen.map(|span| (place(span), ns(span, "ts"), ns(span, "ts") + ns(span, "dur"))).collect()
    };
    let cells = spans(|span| text(span, "name").contains("::Cell::"));
    let sections = spans(|span| span["name"] == "sections");
    let is_in = |spans: &[((u64, u64), i64, i64)], event: &Value| {
        let (place, at) = (place(event), ns(event, "ts"));
        spans.iter().any(|(its, begun, ended)| *its == place && (*begun..=*ended).contains(&at))
    };
    let starts: HashMap<&str, &Value> = of("s").map(|event| (text(event, "id"), event)).collect();
    let multicasts = of("f").filter(|event| {
        let start = starts[text(event, "id")];
        start["pid"] != event["pid"] && is_in(&cells, start) && is_in(&sections, event)
    });
    assert!(multicasts.count() >= 27, "in each step, each of 27 cells calls pairs of the other node");
}
