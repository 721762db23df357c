//! Log of a simulated job: what happened, one event after the other, as a hash, and as a list if the events are kept.

use crate::model::ids::{NodeId, PeId};
use rustc_hash::FxHasher;
use std::fmt;
use std::hash::{Hash, Hasher};

/// One event of a simulated job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SimulatedEvent {
    /// A frame of another node arrived, whose bytes have this hash.
    Arrival {
        /// Who sent it.
        source: NodeId,
        /// Where it waits to be taken.
        target: NodeId,
        /// Hash of its channel and its bytes.
        hash: u64,
    },
    /// A device of a node was so far that something happened: a command began or was over, or the node was called.
    Device {
        /// The node.
        node: NodeId,
    },
    /// A PE had its turn.
    Turn {
        /// The PE.
        pe: PeId,
        /// Whether it did anything.
        did: bool,
    },
    /// A node whose job is over took leave of its peers, or waited for them to do so.
    Leave {
        /// The node.
        node: NodeId,
    },
    /// A node was lost.
    Loss {
        /// The node.
        node: NodeId,
    },
}

impl fmt::Display for SimulatedEvent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arrival { source, target, hash } => {
                write!(out, "a frame of {source} arrived at {target}, hash {hash:016x}")
            }
            Self::Device { node } => write!(out, "a device of {node} went on"),
            Self::Turn { pe, did: true } => write!(out, "{pe} did something"),
            Self::Turn { pe, did: false } => write!(out, "{pe} found nothing to do"),
            Self::Leave { node } => write!(out, "{node} took leave"),
            Self::Loss { node } => write!(out, "{node} was lost"),
        }
    }
}

/// What happened so far.
#[derive(Clone, Default, Debug)]
pub(super) struct Log {
    hash: u64,
    count: u64,
    kept: Option<Vec<(u64, SimulatedEvent)>>,
}

impl Log {
    /// An empty log, which keeps events if it is to.
    pub(super) fn new(keeps: bool) -> Self {
        Self { kept: keeps.then(Vec::new), ..Self::default() }
    }

    pub(super) fn note(&mut self, moment: u64, event: SimulatedEvent) {
        let mut hasher = FxHasher::default();
        (self.hash, moment, event).hash(&mut hasher);
        self.hash = hasher.finish();
        self.count += 1;
        if let Some(kept) = &mut self.kept {
            kept.push((moment, event));
        }
    }

    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn first_difference(&self, other: &Self) -> Option<String> {
        let (mine, theirs) = (self.kept.as_ref()?, other.kept.as_ref()?);
        let most = mine.len().max(theirs.len());
        let number = (0..most).find(|number| mine.get(*number) != theirs.get(*number))?;
        let tell = |events: &[(u64, SimulatedEvent)]| {
            events
                .get(number)
                .map_or_else(|| "it was over".to_owned(), |(moment, event)| format!("at {moment} ns {event}"))
        };
        Some(format!("event {number}: {}; and the other time {}", tell(mine), tell(theirs)))
    }
}
