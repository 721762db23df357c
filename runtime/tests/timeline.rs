//! Timelines as their reader meets them: the text that `+trace` writes, read in the way of a viewer.

use chare::prelude::*;
use chare::trace::{self, TraceWindow};
use chare::{Job, ReachOptions, ThisMigrant};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Steps of each cell.
const STEPS: u32 = 5;

#[derive(Serialize, Deserialize)]
struct Cell {
    steps: u32,
}

#[chare(array, migrate)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self { steps: 0 }
    }

    /// Calls two neighbours, which live elsewhere, between and after a span of its own.
    #[entry]
    fn step(&mut self, done: Callback<f64>) {
        let cells = self.this_collection();
        cells.at((self.this_index() + 1) % 8).hear(self.steps);
        {
            let _sweep = trace::span("sweep");
            self.steps += 1;
        }
        cells.at((self.this_index() + 2) % 8).hear(self.steps);
        trace::count("steps", self.steps);
        self.contribute(sum(1.0), done);
    }

    #[entry]
    fn hear(&mut self, _step: u32) {}

    #[entry]
    async fn wander(this: This<Self>, done: Callback<u32>) {
        let wait = trace::span("waits \"long\"");
        chare::yield_now().await;
        drop(wait);
        this.contribute(sum(1), done);
    }

    #[entry]
    fn go(&mut self, to: u32) {
        self.migrate_to(PeId(to));
    }
}

/// Runs a job of two nodes with two PEs each; returns the events of both.
fn traced<F: Future<Output = ()> + 'static>(
    window: TraceWindow,
    main: impl FnOnce() -> F + Send + 'static,
) -> Vec<Value> {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("trace");
    let network = ReachOptions { trace: Some(path.clone()), trace_window: window, ..ReachOptions::default() };
    assert_eq!(Job::in_process(2, 2).network(network).run(main).unwrap(), 0);
    (0..2).flat_map(|node| read(&path.with_extension(node.to_string()))).collect()
}

fn read(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("it was written");
    serde_json::from_str(&text).unwrap_or_else(|cause| panic!("{cause}: {text}"))
}

fn of<'a>(events: &'a [Value], field: &'static str, is: &'static str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event[field] == is)
}

/// Nanoseconds: whole numbers, which can be compared.
fn ns(time: &Value) -> i64 {
    (time.as_f64().unwrap_or_else(|| panic!("a time: {time}")) * 1e3).round() as i64
}

/// A proxy of cells that are placed in turn, so that neighbours live on different PEs.
fn cells() -> CellProxy {
    CellProxy::create(chare::ArrayOptions::new(8).placement(chare::Placement::RoundRobin))
}

async fn step(cells: &CellProxy) {
    let (stepped, done) = chare::future();
    cells.step(done);
    assert_eq!(stepped.await, 8.0);
}

/// The slices of each thread in the order in which a viewer begins them, and for each arrow the name of the one that had begun last: there
/// it starts.
fn arrow_starts(events: &[Value]) -> Vec<String> {
    let mut in_time: Vec<&Value> = events.iter().filter(|event| event["ts"].is_number()).collect();
    in_time.sort_by_key(|event| ns(&event["ts"]));
    let mut begun_last = std::collections::BTreeMap::new();
    let mut starts = Vec::new();
    for event in in_time {
        let thread = (event["pid"].as_u64(), event["tid"].as_u64());
        match event["ph"].as_str() {
            Some("X" | "i") => drop(begun_last.insert(thread, event)),
            Some("s") => {
                let slice = begun_last[&thread];
                let end = ns(&slice["ts"]) + ns(slice.get("dur").unwrap_or(&Value::from(0.0)));
                assert!(slice["ph"] == "X" && end >= ns(&event["args"]["at"]), "{event} starts at {slice}");
                starts.push(slice["name"].as_str().expect("a name").to_owned());
            }
            _ => {}
        }
    }
    starts
}

#[test]
fn arrows_start_at_the_entries_that_send_and_idle_times_bury_nothing() {
    let events = traced(TraceWindow::default(), || async {
        let cells = cells();
        for _ in 0..STEPS {
            step(&cells).await;
        }
    });
    let starts = arrow_starts(&events);
    let from_step = starts.iter().filter(|name| name.ends_with("Cell::step")).count();
    assert!(
        from_step >= 70,
        "each of 40 steps sends two calls, nearly all of them to another PE: {starts:?}"
    );
    assert!(!starts.iter().any(|name| name.ends_with("Cell::hear")), "nobody hears and sends: {starts:?}");
    let idle: Vec<&Value> = of(&events, "cat", "idle").collect();
    assert!(!idle.is_empty() && idle.iter().all(|event| event["ph"] == "M" && event["dur"].is_number()));
}

#[test]
fn spans_and_counters_of_the_program_are_shown() {
    let events = traced(TraceWindow::default(), || async {
        let cells = cells();
        step(&cells).await;
        let (wandered, done) = chare::future();
        cells.wander(done);
        assert_eq!(wandered.await, 8);
    });
    let sweeps: Vec<&Value> = of(&events, "name", "sweep").collect();
    assert_eq!(sweeps.len(), 8);
    for sweep in sweeps {
        assert_eq!((&sweep["cat"], &sweep["ph"]), (&Value::from("own"), &Value::from("X")), "{sweep}");
        let within = events.iter().any(|event| {
            let begins = ns(&sweep["ts"]) - event["ts"].as_f64().map_or(i64::MAX, |_| ns(&event["ts"]));
            event["name"].as_str().is_some_and(|name| name.ends_with("Cell::step"))
                && event["args"]["chare"] == sweep["args"]["chare"]
                && begins >= 0
                && begins + ns(&sweep["dur"]) <= ns(&event["dur"])
        });
        assert!(within, "{sweep}");
    }
    let values: Vec<&Value> = of(&events, "ph", "C").collect();
    assert_eq!(values.len(), 8);
    assert!(
        values.iter().all(|event| event["name"] == "steps" && event["args"]["value"] == 1.0),
        "{values:?}"
    );
    assert!(values.iter().any(|event| event["id"] == "PE 3"), "{values:?}");
    // What is kept over an await has a line of its own.
    let [begins, ends] = ["b", "e"].map(|phase| -> Vec<&Value> {
        of(&events, "ph", phase).filter(|event| event["name"] == "waits \"long\"").collect()
    });
    assert_eq!((begins.len(), ends.len()), (8, 8));
    for begin in begins {
        let end = ends.iter().find(|end| end["id"] == begin["id"]).expect("it ends");
        assert!(ns(&begin["ts"]) <= ns(&end["ts"]) && begin["cat"] == "own");
    }
}

#[test]
fn the_program_records_what_it_wants_to() {
    let events = traced(TraceWindow::default(), || async {
        trace::pause();
        let cells = cells();
        step(&cells).await;
        trace::resume();
        trace::count("on", 1);
        trace::pause();
        trace::count("off", 1);
        step(&cells).await;
    });
    let of_node_0: Vec<&Value> = events.iter().filter(|event| event["pid"] == 0).collect();
    let is = |name: &str| of_node_0.iter().filter(|event| event["name"] == name).count();
    assert_eq!((is("on"), is("off"), is("sweep")), (1, 0, 0));
    // The other process has a switch of its own.
    assert_eq!(of(&events, "name", "sweep").count(), 2 * 4);
}

#[test]
fn a_window_of_the_jobs_time_is_recorded() {
    let never = TraceWindow { from: Duration::from_secs(3_600), lasts: None };
    let closed = TraceWindow { from: Duration::ZERO, lasts: Some(Duration::ZERO) };
    let long = TraceWindow { from: Duration::ZERO, lasts: Some(Duration::from_secs(3_600)) };
    for (window, sweeps) in [(never, 0), (closed, 0), (long, 8)] {
        let events = traced(window, || async { step(&cells()).await });
        assert_eq!(of(&events, "name", "sweep").count(), sweeps, "{window:?}");
        // PEs and processes are named in any case.
        assert!(sweeps > 0 || events.iter().all(|event| event["ph"] == "M"), "{window:?}: {events:?}");
    }
}

#[test]
fn elements_that_move_leave_and_arrive() {
    let events = traced(TraceWindow::default(), || async {
        let cells = cells();
        step(&cells).await;
        // To the other node and back.
        for to in [2, 0] {
            cells.at(0).go(to);
            chare::quiescence().await;
        }
    });
    let marks: Vec<&Value> = of(&events, "cat", "move").collect();
    let told = |name: &str| {
        let marks =
            marks.iter().filter(|mark| mark["name"].as_str().is_some_and(|told| told.ends_with(name)));
        marks.map(|mark| (mark["pid"].as_u64(), mark["args"].to_string())).collect::<Vec<_>>()
    };
    let args = |way: &str, pe: u32| {
        let chare = marks[0]["args"]["chare"].as_str().expect("a chare");
        assert!(chare.contains("member 0"), "{chare}");
        serde_json::json!({ "chare": chare, way: pe }).to_string()
    };
    let mut left = told("Cell leaves");
    left.sort();
    assert_eq!(left, [(Some(0), args("to", 2)), (Some(1), args("to", 0))]);
    let mut arrived = told("Cell arrives");
    arrived.sort();
    assert_eq!(arrived, [(Some(0), args("from", 2)), (Some(1), args("from", 0))]);
}
