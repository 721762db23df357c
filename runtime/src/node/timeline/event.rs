//! Events of a timeline, as plain data: spans, departures of messages, times without work, moves of elements, and what the program counts.

use crate::model::ids::{MessageId, PeId, Target};
use crate::model::registry::Identity;

/// The kind of code that ran in a span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Entry,
    /// Calls of one entry that travelled together.
    Entries,
    /// A local entry, which the entry that called it waits for.
    Local,
    Constructor,
    /// A post method, which says where nocopy arguments go.
    Post,
    /// An `async` entry that goes on, `main`, a closure.
    Task,
    /// A span that the program opened itself.
    Own,
    /// A message that the runtime works on: of a service, or with a future's value.
    Runtime,
}

impl Kind {
    /// The category by which a viewer knows it.
    pub(super) fn category(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Entries => "entries",
            Self::Local => "local",
            Self::Constructor => "constructor",
            Self::Post => "post",
            Self::Task => "task",
            Self::Own => "own",
            Self::Runtime => "runtime",
        }
    }
}

/// The code that ran in a span: whose, and its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct What {
    pub(crate) kind: Kind,
    /// The chare's type and the chare.
    pub(crate) chare: Option<(&'static str, Target)>,
    pub(crate) name: &'static str,
}

impl What {
    /// Code of a chare.
    pub(crate) fn of(kind: Kind, chare: &Identity, name: &'static str) -> Self {
        Self { kind, chare: Some((chare.name(), chare.target)), name }
    }

    /// The runtime's own work.
    pub(crate) fn runtime(name: &'static str) -> Self {
        Self { kind: Kind::Runtime, chare: None, name }
    }
}

/// A move of an element, as one of its two PEs sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Move {
    Leaves { to: PeId },
    Arrives { from: PeId },
}

/// An event on one PE. Times are those of [`clock::now_ns`](chare_lrts::clock::now_ns).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// Code ran, because a message of another PE had come, if one is named.
    Span { what: What, begun_ns: u64, ended_ns: u64, cause: Option<MessageId> },
    /// A span of the program's own, of this PE and number, which lies across others.
    Beside { what: What, begun_ns: u64, ended_ns: u64, of: (PeId, u64) },
    /// A message left for another PE, within a span that had begun at `span_ns`.
    Sent { message: MessageId, to: PeId, at_ns: u64, span_ns: u64 },
    /// The program counted, on this PE.
    Value { name: &'static str, value: f64, at_ns: u64, of: PeId },
    /// An element moved.
    Moved { what: What, way: Move, at_ns: u64 },
    /// There was no work.
    Idle { since_ns: u64, until_ns: u64 },
}
