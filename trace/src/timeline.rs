//! Timeline of a job: the spans, idle times and messages of all its PEs, what the program notes itself, and the traffic between its nodes.

use crate::error::TraceError;
use crate::files;
use crate::line::{self, Line};
pub use crate::sweep::Piece;
use crate::sweep::pieces;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

/// A PE's number in the job.
pub type PeNumber = u32;

/// The kind of code that ran in a span.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Category {
    /// Code of the program: entries, constructors, post methods, tasks.
    Program,
    /// The runtime's work on its own messages.
    Runtime,
}

/// Code that ran on a PE.
#[derive(Clone, Debug)]
pub struct Span {
    /// Chare type and entry.
    pub name: String,
    /// The category as the file has it: `entry`, `constructor`, `task` and so on.
    pub kind: String,
    /// The chare, such as `member 3`; empty where there is none.
    pub chare: String,
    /// Microseconds since the timeline's begin.
    pub begun_us: f64,
    /// Microseconds, with the spans inside.
    pub lasted_us: f64,
    /// Microseconds, without the spans inside.
    pub own_us: f64,
}

impl Span {
    /// Whose code it is.
    pub fn category(&self) -> Category {
        if self.kind == "runtime" { Category::Runtime } else { Category::Program }
    }
}

/// What one PE did.
#[derive(Clone, Default, Debug)]
pub struct Pe {
    /// The node that has it.
    pub node: u32,
    /// By their begin.
    pub spans: Vec<Span>,
    /// The innermost span at each time, in order.
    pub pieces: Vec<Piece>,
    /// Spans that the program opened itself, by their begin. They lie within others or across them, and take no time from those.
    pub own: Vec<Span>,
    /// What the program counted, in the order of time.
    pub values: Vec<Value>,
    /// Begin and end of the times without work, in order.
    pub idle: Vec<(f64, f64)>,
}

/// A value that the program counted.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    /// The name under which it did.
    pub name: String,
    /// Microseconds since the timeline's begin.
    pub at_us: f64,
    /// What was there from then on.
    pub value: f64,
}

/// A move of an element from one PE to another, as the PE that it left tells it.
#[derive(Clone, PartialEq, Debug)]
pub struct Move {
    /// The element, such as `member 3`.
    pub chare: String,
    /// The PE that it left.
    pub from: PeNumber,
    /// The PE to which it went.
    pub to: PeNumber,
    /// Microseconds since the timeline's begin.
    pub at_us: f64,
}

/// A message between PEs.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// The sender.
    pub from: PeNumber,
    /// The PE that it was sent to; it may have been sent on.
    pub to: PeNumber,
    /// Microseconds since the timeline's begin.
    pub sent_us: f64,
    /// The begin of the work that it caused, if that is known.
    pub ran_us: Option<f64>,
}

/// Traffic from one node to another.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Traffic {
    pub(crate) frames: u64,
    pub(crate) frame_bytes: u64,
    pub(crate) transfers: u64,
    pub(crate) transfer_bytes: u64,
}

/// A job as its trace tells it.
#[derive(Clone, Default, Debug)]
pub struct Timeline {
    /// By number.
    pub pes: BTreeMap<PeNumber, Pe>,
    /// By their departure.
    pub messages: Vec<Message>,
    /// By their time.
    pub moves: Vec<Move>,
    /// Ends of messages whose departure is in none of the files.
    pub orphans: usize,
    /// Events that did not get into the files.
    pub dropped: u64,
    /// Microseconds from the first event of a PE to the last.
    pub length_us: f64,
    pub(crate) traffic: BTreeMap<(u32, u32), Traffic>,
}

/// What is being read.
#[derive(Default)]
struct Reading {
    timeline: Timeline,
    /// The PE of a process and thread.
    places: HashMap<(u32, i64), PeNumber>,
    /// Spans of the program's own whose end has not come, by process, name and number.
    begun: HashMap<(u32, String, String), Span>,
    sent: HashMap<String, Message>,
    ran: HashMap<String, f64>,
}

impl Timeline {
    /// Reads the files of a job's nodes, in any order, or a merged one.
    ///
    /// # Errors
    /// The file system's; a line that is no event; a PE that is in two files; no PE at all.
    pub fn read(paths: &[PathBuf]) -> Result<Self, TraceError> {
        let mut reading = Reading::default();
        for path in paths {
            reading.take_file(&path.display().to_string(), &files::read(path)?)?;
        }
        reading.end()
    }

    /// Reads the text of one file; `name` is for errors.
    ///
    /// # Errors
    /// As [`Timeline::read`].
    pub fn of_text(name: &str, text: &str) -> Result<Self, TraceError> {
        let mut reading = Reading::default();
        reading.take_file(name, text)?;
        reading.end()
    }
}

/// The category of what the program notes itself.
const OWN: &str = "own";

fn span_of(line: &Line<'_>) -> Span {
    Span {
        name: line.name.clone().into_owned(),
        kind: line.cat.clone().into_owned(),
        chare: line.args.chare.clone().unwrap_or_default().into_owned(),
        begun_us: line.ts,
        lasted_us: line.dur,
        own_us: 0.0,
    }
}

impl Reading {
    fn take_file(&mut self, file: &str, text: &str) -> Result<(), TraceError> {
        for event in line::events(file, text) {
            self.take(event?)?;
        }
        Ok(())
    }

    fn take(&mut self, line: Line<'_>) -> Result<(), TraceError> {
        let place = (line.pid, line.tid);
        match (&*line.ph, &*line.cat, &*line.name) {
            ("M", _, "thread_name") => {
                let name = line.args.name.unwrap_or_default();
                if let Some(number) = name.strip_prefix("PE ").and_then(|number| number.parse().ok()) {
                    let pe = Pe { node: line.pid, ..Pe::default() };
                    if self.timeline.pes.insert(number, pe).is_some() {
                        return Err(TraceError::Twice(name.into_owned()));
                    }
                    self.places.insert(place, number);
                }
            }
            ("M", "idle", _) => {
                if let Some(pe) = self.pe(place) {
                    pe.idle.push((line.ts, line.ts + line.dur));
                }
            }
            ("X", category, _) => {
                let is_own = category == OWN;
                let span = span_of(&line);
                if let Some(pe) = self.pe(place) {
                    if is_own { &mut pe.own } else { &mut pe.spans }.push(span);
                }
            }
            ("b", OWN, _) => {
                let span = span_of(&line);
                self.begun
                    .insert((line.pid, span.name.clone(), line.id.unwrap_or_default().into_owned()), span);
            }
            ("e", OWN, name) => {
                let key = (line.pid, name.to_owned(), line.id.unwrap_or_default().into_owned());
                if let (Some(span), Some(pe)) = (self.begun.remove(&key), self.pe(place)) {
                    let lasted_us = (line.ts - span.begun_us).max(0.0);
                    pe.own.push(Span { lasted_us, ..span });
                }
            }
            ("C", OWN, _) => {
                if let (Some(value), Some(pe)) = (line.args.value, self.pe(place)) {
                    pe.values.push(Value { name: line.name.into_owned(), at_us: line.ts, value });
                }
            }
            ("i", "move", _) => {
                // The PE where it arrives tells of it, too.
                if let (Some(from), Some(to)) = (self.places.get(&place), line.args.to) {
                    let chare = line.args.chare.unwrap_or_default().into_owned();
                    self.timeline.moves.push(Move { chare, from: *from, to, at_us: line.ts });
                }
            }
            ("s", ..) => {
                if let (Some(id), Some(from), Some(to)) = (line.id, self.places.get(&place), line.args.to) {
                    let sent_us = line.args.at.unwrap_or(line.ts);
                    let message = Message { from: *from, to, sent_us, ran_us: None };
                    self.sent.insert(id.into_owned(), message);
                }
            }
            ("f", ..) => {
                if let Some(id) = line.id {
                    self.ran.insert(id.into_owned(), line.ts);
                }
            }
            ("i", _, "dropped") => self.timeline.dropped += line.args.events.unwrap_or(0),
            ("i", _, "send") => {
                if let Some(peer) = line.args.peer {
                    let traffic = self.timeline.traffic.entry((line.pid, peer)).or_default();
                    traffic.frames += 1;
                    traffic.frame_bytes += line.args.bytes.unwrap_or(0);
                }
            }
            // A transfer's end says how many bytes it moved: to this node, or from it.
            ("e", _, way @ ("get" | "put")) => {
                if let Some(peer) = line.args.peer {
                    let pair = if way == "get" { (peer, line.pid) } else { (line.pid, peer) };
                    let traffic = self.timeline.traffic.entry(pair).or_default();
                    traffic.transfers += 1;
                    traffic.transfer_bytes += line.args.bytes.unwrap_or(0);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The PE of a process and thread.
    fn pe(&mut self, place: (u32, i64)) -> Option<&mut Pe> {
        self.timeline.pes.get_mut(self.places.get(&place)?)
    }

    fn end(self) -> Result<Timeline, TraceError> {
        let Self { mut timeline, mut sent, ran, .. } = self;
        for (id, ran_us) in ran {
            match sent.get_mut(&id) {
                Some(message) => message.ran_us = Some(ran_us),
                None => timeline.orphans += 1,
            }
        }
        timeline.messages = sent.into_values().collect();
        timeline.moves.sort_by(|one, other| one.at_us.total_cmp(&other.at_us));
        timeline.messages.sort_by(|one, other| one.sent_us.total_cmp(&other.sent_us));
        if timeline.pes.is_empty() {
            return Err(TraceError::Empty);
        }
        timeline.begin_at_zero();
        for pe in timeline.pes.values_mut() {
            pe.cut();
        }
        Ok(timeline)
    }
}

impl Timeline {
    /// Counts all times from the first event of a PE.
    fn begin_at_zero(&mut self) {
        let spans = |pe: &Pe| {
            let spans = pe.spans.iter().map(|span| (span.begun_us, span.begun_us + span.lasted_us));
            spans.chain(pe.idle.iter().copied()).collect::<Vec<_>>()
        };
        let times: Vec<(f64, f64)> = self.pes.values().flat_map(spans).collect();
        let first = times.iter().map(|(begun, _)| *begun).reduce(f64::min).unwrap_or(0.0);
        let last = times.iter().map(|(_, ended)| *ended).reduce(f64::max).unwrap_or(0.0);
        self.length_us = last - first;
        for pe in self.pes.values_mut() {
            pe.spans.iter_mut().chain(&mut pe.own).for_each(|span| span.begun_us -= first);
            pe.values.iter_mut().for_each(|value| value.at_us -= first);
            for (begun, ended) in &mut pe.idle {
                (*begun, *ended) = (*begun - first, *ended - first);
            }
        }
        self.moves.iter_mut().for_each(|moved| moved.at_us -= first);
        for message in &mut self.messages {
            message.sent_us -= first;
            message.ran_us = message.ran_us.map(|ran| ran - first);
        }
    }
}

impl Pe {
    /// Sorts the spans and finds what each has for itself.
    fn cut(&mut self) {
        self.spans.sort_by(|one, other| {
            one.begun_us.total_cmp(&other.begun_us).then(other.lasted_us.total_cmp(&one.lasted_us))
        });
        self.own.sort_by(|one, other| one.begun_us.total_cmp(&other.begun_us));
        self.values.sort_by(|one, other| one.at_us.total_cmp(&other.at_us));
        self.idle.sort_by(|one, other| one.0.total_cmp(&other.0));
        let times: Vec<_> =
            self.spans.iter().map(|span| span.begun_us..span.begun_us + span.lasted_us).collect();
        self.pieces = pieces(&times);
        for piece in &self.pieces {
            self.spans[piece.span].own_us += piece.ended_us - piece.begun_us;
        }
    }
}
