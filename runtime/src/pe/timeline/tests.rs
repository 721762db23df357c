//! What a timeline logs, event by event.

use super::*;
use crate::node::timeline::{BLOCK_EVENTS, Kind};

fn own(name: &'static str) -> What {
    What { kind: Kind::Own, chare: None, name }
}

#[test]
fn what_finds_no_room_is_counted_and_the_rest_goes_on() {
    let (outlet, _nobody) = Outlet::blocked(2);
    let timeline = Timeline::new(PeId(3), outlet);
    for _ in 0..4 * BLOCK_EVENTS + 1 {
        timeline.open(What::runtime("work"), false);
        timeline.close();
    }
    // Two blocks wait, two found no room, one event is in the block that fills.
    assert_eq!(timeline.log.dropped.get(), 2 * BLOCK_EVENTS as u64);
    assert_eq!(timeline.log.events.borrow().len(), 1);
}

#[test]
fn a_bare_span_is_told_if_it_sends_and_nothing_is_named_between_spans() {
    let (outlet, _nobody) = Outlet::blocked(1);
    let timeline = Timeline::new(PeId(3), outlet);
    assert!(timeline.depart(PeId(1)).is_none());
    for sends in [false, true] {
        timeline.open(What::runtime("poll"), true);
        assert!(!sends || timeline.depart(PeId(1)).is_some());
        timeline.close();
    }
    let events = timeline.log.events.borrow();
    let [Event::Span { begun_ns, ended_ns, .. }, Event::Sent { message, to: PeId(1), at_ns, span_ns }] =
        events[..]
    else {
        panic!("{events:?}");
    };
    assert_eq!((message, span_ns), (MessageId::new(PeId(3), 0), begun_ns));
    assert!((begun_ns..=ended_ns).contains(&at_ns));
}

#[test]
fn messages_follow_the_span_that_sent_them_and_not_one_that_it_called() {
    let (outlet, _nobody) = Outlet::blocked(1);
    let timeline = Timeline::new(PeId(3), outlet);
    timeline.open(What::runtime("outer"), false);
    assert!(timeline.depart(PeId(0)).is_some());
    timeline.open(What::runtime("inner"), false);
    assert!(timeline.depart(PeId(1)).is_some());
    timeline.close();
    assert!(timeline.depart(PeId(2)).is_some());
    timeline.close();
    let told: Vec<String> = timeline
        .log
        .events
        .borrow()
        .iter()
        .map(|event| match event {
            Event::Span { what, .. } => what.name.to_owned(),
            Event::Sent { to, .. } => to.to_string(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(told, ["inner", "PE 1", "outer", "PE 0", "PE 2"]);
}

#[test]
fn spans_of_the_program_nest_or_stand_beside() {
    let (outlet, _nobody) = Outlet::blocked(1);
    let timeline = Timeline::new(PeId(3), outlet);
    timeline.open(What::runtime("entry"), false);
    let outlives = timeline.open_own(own("outlives"));
    let early = timeline.open_own(own("early"));
    let nests = timeline.open_own(own("nests"));
    timeline.close_own(early);
    timeline.close_own(nests);
    timeline.close();
    timeline.close_own(outlives);
    // Once is enough.
    timeline.close_own(outlives);
    let events = timeline.log.events.borrow();
    let [
        Event::Beside { what: early, of: (PeId(3), 1), .. },
        Event::Span { what: nests, .. },
        Event::Span { what: entry, .. },
        Event::Beside { what: outlives, of: (PeId(3), 0), .. },
    ] = events[..]
    else {
        panic!("{events:?}");
    };
    assert_eq!([early.name, nests.name, entry.name, outlives.name], ["early", "nests", "entry", "outlives"]);
}

#[test]
fn nothing_is_logged_while_the_recording_pauses() {
    let (outlet, _nobody) = Outlet::blocked(1);
    let recording = std::sync::Arc::clone(&outlet.recording);
    let timeline = Timeline::new(PeId(3), outlet);
    recording.pause();
    timeline.rest();
    timeline.open(What::runtime("work"), false);
    timeline.count("residual", 1.0);
    assert!(timeline.depart(PeId(1)).is_none());
    timeline.close();
    assert!(timeline.log.events.borrow().is_empty());
    recording.resume();
    timeline.count("residual", f64::NAN);
    timeline.count("residual", 2.0);
    assert!(matches!(timeline.log.events.borrow()[..], [Event::Value { value: 2.0, .. }]));
}
