//! Lines of a trace: one event in the trace event format each, decoded.

use crate::error::TraceError;
use serde::Deserialize;
use std::borrow::Cow;

/// An event, with the fields that any event of ours has.
#[derive(Deserialize, Debug)]
pub(crate) struct Line<'a> {
    #[serde(borrow)]
    pub(crate) name: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) cat: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) ph: Cow<'a, str>,
    /// Microseconds.
    #[serde(default)]
    pub(crate) ts: f64,
    #[serde(default)]
    pub(crate) dur: f64,
    pub(crate) pid: u32,
    pub(crate) tid: i64,
    #[serde(borrow, default)]
    pub(crate) id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) args: Arguments<'a>,
}

/// The arguments that our events have.
#[derive(Deserialize, Default, Debug)]
pub(crate) struct Arguments<'a> {
    #[serde(borrow)]
    pub(crate) name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) chare: Option<Cow<'a, str>>,
    pub(crate) to: Option<u32>,
    /// Microseconds at which a message left, whose arrow starts with its span.
    pub(crate) at: Option<f64>,
    pub(crate) value: Option<f64>,
    pub(crate) peer: Option<u32>,
    pub(crate) bytes: Option<u64>,
    pub(crate) events: Option<u64>,
}

/// Microseconds that no time of a trace reaches: thirty thousand years.
const US_MAX: f64 = 1e18;

impl Line<'_> {
    /// Whether its times may be summed up.
    fn check(self) -> Result<Self, String> {
        let Self { ts, dur, args: Arguments { at, .. }, .. } = self;
        // What is no number is in no range.
        let times = [ts, dur, at.unwrap_or(0.0)];
        match times.iter().all(|time| (0.0..US_MAX).contains(time)) {
            true => Ok(self),
            false => Err(format!("a time of {ts:e} us that lasts {dur:e} us is none")),
        }
    }
}

/// The events of a file. Of a file whose process was killed, the last line may be cut off: it is left out.
pub(crate) fn events<'a>(file: &'a str, text: &'a str) -> impl Iterator<Item = Result<Line<'a>, TraceError>> {
    let is_whole = text.ends_with('\n') || text.ends_with(']');
    let last = text.lines().count();
    (1..).zip(text.lines()).filter_map(move |(number, line)| {
        let event = line.trim().trim_end_matches(',');
        if event.is_empty() || event == "[" || event == "]" || (number == last && !is_whole) {
            return None;
        }
        let line = serde_json::from_str(event).map_err(|cause| cause.to_string()).and_then(Line::check);
        Some(line.map_err(|cause| TraceError::Line { file: file.to_owned(), line: number, cause }))
    })
}
