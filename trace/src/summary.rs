//! Summary of a timeline: where the time went, which entries took it, how long they are, who talks to whom, who moved, and what the program
//! noted itself.

use crate::rows::{
    CounterRow, EntryRow, Grain, Longest, MessageRow, MoveRow, NetworkRow, OwnRow, PeRow, Share,
};
use crate::timeline::{Category, PeNumber, Timeline};
use std::collections::BTreeMap;

/// How many of the longest spans a summary names.
const LONGEST: usize = 10;

/// A summary; see the file's head.
#[derive(Clone, PartialEq, Debug)]
pub struct Summary {
    /// Microseconds from the first event to the last.
    pub length_us: f64,
    /// Where the time of all PEs together went, in equal intervals.
    pub profile: Vec<Share>,
    /// By number.
    pub pes: Vec<PeRow>,
    /// Those that took most time first.
    pub entries: Vec<EntryRow>,
    /// Spans of the program's own; those with most time first.
    pub own: Vec<OwnRow>,
    /// By name and PE.
    pub counters: Vec<CounterRow>,
    /// By the two PEs.
    pub moves: Vec<MoveRow>,
    /// The longest first.
    pub longest: Vec<Longest>,
    /// By length; lengths between that nothing has are there, too.
    pub grains: Vec<Grain>,
    /// By sender and receiver.
    pub messages: Vec<MessageRow>,
    /// The middle one of the times from a message's departure to the work that it caused, in microseconds.
    pub latency_us: Option<f64>,
    /// By source and target.
    pub network: Vec<NetworkRow>,
    /// Messages of which the trace has one end alone: what they caused was dropped, or nothing came of them before the end.
    pub single_ends: usize,
    /// Events that are missing because they came too fast.
    pub dropped: u64,
}

impl Summary {
    /// Sums a timeline up; its time profile has so many intervals, at least one.
    pub fn of(timeline: &Timeline, intervals: usize) -> Self {
        let unpaired = timeline.messages.iter().filter(|message| message.ran_us.is_none()).count();
        Self {
            length_us: timeline.length_us,
            profile: profile(timeline, intervals.max(1)),
            pes: pes(timeline),
            entries: entries(timeline),
            own: own(timeline),
            counters: counters(timeline),
            moves: moves(timeline),
            longest: longest(timeline),
            grains: grains(timeline),
            messages: messages(timeline),
            latency_us: latency_us(timeline),
            network: network(timeline),
            single_ends: unpaired + timeline.orphans,
            dropped: timeline.dropped,
        }
    }
}

/// Adds the parts of a time that lie in each of the intervals.
fn spread(times: (f64, f64), width_us: f64, intervals: usize, mut add: impl FnMut(usize, f64)) {
    let (begun, ended) = times;
    let first = (begun / width_us) as usize;
    for number in first..intervals {
        let (from, to) = (number as f64 * width_us, (number + 1) as f64 * width_us);
        if from >= ended {
            break;
        }
        add(number, ended.min(to) - begun.max(from));
    }
}

fn profile(timeline: &Timeline, intervals: usize) -> Vec<Share> {
    let width_us = (timeline.length_us / intervals as f64).max(1e-3);
    let whole = width_us * timeline.pes.len() as f64;
    let mut profile = vec![Share::default(); intervals];
    for pe in timeline.pes.values() {
        for piece in &pe.pieces {
            let category = pe.spans[piece.span].category();
            spread((piece.begun_us, piece.ended_us), width_us, intervals, |number, us| {
                profile[number].add(category, us / whole);
            });
        }
        for idle in &pe.idle {
            spread(*idle, width_us, intervals, |number, us| profile[number].idle += us / whole);
        }
    }
    profile
}

fn pes(timeline: &Timeline) -> Vec<PeRow> {
    let whole = timeline.length_us.max(1e-3);
    let rows = timeline.pes.iter().map(|(number, pe)| {
        let mut share = Share::default();
        pe.spans.iter().for_each(|span| share.add(span.category(), span.own_us / whole));
        share.idle = pe.idle.iter().map(|(begun, ended)| (ended - begun) / whole).sum();
        let entries = pe.spans.iter().filter(|span| span.kind == "entry").count() as u64;
        PeRow { pe: *number, share, entries }
    });
    rows.collect()
}

fn entries(timeline: &Timeline) -> Vec<EntryRow> {
    let whole = timeline.length_us.max(1e-3) * timeline.pes.len() as f64;
    let mut rows: BTreeMap<(&str, &str), (u64, f64, f64)> = BTreeMap::new();
    for span in timeline.pes.values().flat_map(|pe| &pe.spans) {
        let (calls, own_us, longest_us) = rows.entry((&span.name, &span.kind)).or_default();
        (*calls, *own_us, *longest_us) = (*calls + 1, *own_us + span.own_us, longest_us.max(span.own_us));
    }
    let row = |((name, kind), (calls, own_us, longest_us)): ((&str, &str), _)| EntryRow {
        name: name.to_owned(),
        kind: kind.to_owned(),
        calls,
        own_us,
        share: own_us / whole,
        longest_us,
    };
    let mut rows: Vec<EntryRow> = rows.into_iter().map(row).collect();
    rows.sort_by(|one, other| other.own_us.total_cmp(&one.own_us));
    rows
}

fn own(timeline: &Timeline) -> Vec<OwnRow> {
    let mut rows: BTreeMap<&str, OwnRow> = BTreeMap::new();
    for span in timeline.pes.values().flat_map(|pe| &pe.own) {
        let row = rows.entry(&span.name).or_insert_with(|| OwnRow {
            name: span.name.clone(),
            spans: 0,
            lasted_us: 0.0,
            longest_us: 0.0,
        });
        row.spans += 1;
        row.lasted_us += span.lasted_us;
        row.longest_us = row.longest_us.max(span.lasted_us);
    }
    let mut rows: Vec<OwnRow> = rows.into_values().collect();
    rows.sort_by(|one, other| other.lasted_us.total_cmp(&one.lasted_us));
    rows
}

fn counters(timeline: &Timeline) -> Vec<CounterRow> {
    let mut rows: BTreeMap<(&str, PeNumber), CounterRow> = BTreeMap::new();
    let values = timeline.pes.iter().flat_map(|(pe, of)| of.values.iter().map(move |value| (*pe, value)));
    for (pe, counted) in values {
        let value = counted.value;
        let row = rows.entry((&counted.name, pe)).or_insert_with(|| CounterRow {
            name: counted.name.clone(),
            pe,
            values: 0,
            least: value,
            most: value,
            last: value,
        });
        row.values += 1;
        (row.least, row.most, row.last) = (row.least.min(value), row.most.max(value), value);
    }
    rows.into_values().collect()
}

fn moves(timeline: &Timeline) -> Vec<MoveRow> {
    let mut rows: BTreeMap<(PeNumber, PeNumber), u64> = BTreeMap::new();
    for moved in &timeline.moves {
        *rows.entry((moved.from, moved.to)).or_default() += 1;
    }
    rows.into_iter().map(|((from, to), moves)| MoveRow { from, to, moves }).collect()
}

fn longest(timeline: &Timeline) -> Vec<Longest> {
    let spans = timeline.pes.iter().flat_map(|(pe, of)| of.spans.iter().map(move |span| (*pe, span)));
    let mut spans: Vec<_> = spans.collect();
    spans.sort_by(|(_, one), (_, other)| other.own_us.total_cmp(&one.own_us));
    let rows = spans.into_iter().take(LONGEST).map(|(pe, span)| Longest {
        name: span.name.clone(),
        chare: span.chare.clone(),
        pe,
        begun_us: span.begun_us,
        own_us: span.own_us,
    });
    rows.collect()
}

fn grains(timeline: &Timeline) -> Vec<Grain> {
    let mut grains: BTreeMap<i32, (u64, f64)> = BTreeMap::new();
    let spans = timeline.pes.values().flat_map(|pe| &pe.spans);
    for span in spans.filter(|span| span.category() == Category::Program) {
        // No clock is finer than a nanosecond.
        let (calls, own_us) = grains.entry(span.own_us.max(1e-3).log2().floor() as i32).or_default();
        (*calls, *own_us) = (*calls + 1, *own_us + span.own_us);
    }
    let (Some(first), Some(last)) = (grains.keys().next(), grains.keys().last()) else { return Vec::new() };
    let rows = (*first..=*last).map(|power| {
        let (calls, own_us) = grains.get(&power).copied().unwrap_or_default();
        Grain { from_us: f64::from(power).exp2(), calls, own_us }
    });
    rows.collect()
}

fn messages(timeline: &Timeline) -> Vec<MessageRow> {
    let mut rows: BTreeMap<(PeNumber, PeNumber), u64> = BTreeMap::new();
    for message in &timeline.messages {
        *rows.entry((message.from, message.to)).or_default() += 1;
    }
    rows.into_iter().map(|((from, to), messages)| MessageRow { from, to, messages }).collect()
}

fn latency_us(timeline: &Timeline) -> Option<f64> {
    let times = timeline.messages.iter().filter_map(|message| Some(message.ran_us? - message.sent_us));
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

fn network(timeline: &Timeline) -> Vec<NetworkRow> {
    let rows = timeline.traffic.iter().map(|((from, to), traffic)| NetworkRow {
        from: *from,
        to: *to,
        frames: traffic.frames,
        frame_bytes: traffic.frame_bytes,
        transfers: traffic.transfers,
        transfer_bytes: traffic.transfer_bytes,
    });
    rows.collect()
}
