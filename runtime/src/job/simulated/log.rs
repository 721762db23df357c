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
    /// The goodbye of a node arrived at all with which it had exchanged nothing.
    Goodbye {
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
            Self::Goodbye { node } => write!(out, "{node} had said goodbye to all"),
            Self::Loss { node } => write!(out, "{node} was lost"),
        }
    }
}

impl SimulatedEvent {
    /// Whose event it is, among those of one moment.
    fn node(&self, pes: u32) -> NodeId {
        match *self {
            Self::Arrival { target: node, .. }
            | Self::Device { node }
            | Self::Leave { node }
            | Self::Goodbye { node }
            | Self::Loss { node } => node,
            Self::Turn { pe, .. } => NodeId(pe.0 / pes),
        }
    }
}

/// What happened so far, at some nodes.
#[derive(Clone, Default, Debug)]
pub(super) struct Log {
    /// By node: what happens at one is ordered, whatever happens elsewhere.
    hashes: Vec<u64>,
    count: u64,
    kept: Option<Vec<(u64, SimulatedEvent)>>,
}

impl Log {
    /// The empty log of so many nodes, which keeps events if it is to.
    pub(super) fn new(nodes: usize, keeps: bool) -> Self {
        Self { hashes: vec![0; nodes], count: 0, kept: keeps.then(Vec::new) }
    }

    /// Notes an event of a node.
    pub(super) fn note(&mut self, moment: u64, node: usize, event: SimulatedEvent) {
        let (mut hasher, hash) = (FxHasher::default(), &mut self.hashes[node]);
        (*hash, moment, event).hash(&mut hasher);
        *hash = hasher.finish();
        self.count += 1;
        if let Some(kept) = &mut self.kept {
            kept.push((moment, event));
        }
    }

    /// This log and that of the nodes behind these.
    pub(super) fn with(mut self, behind: Self) -> Self {
        self.hashes.extend(behind.hashes);
        self.count += behind.count;
        if let (Some(kept), Some(behind)) = (&mut self.kept, behind.kept) {
            kept.extend(behind);
        }
        self
    }

    /// Puts what happened in order, whoever noted it: by moment, and at one by node, which have `pes` PEs each.
    pub(super) fn sort(&mut self, pes: u32) {
        if let Some(kept) = &mut self.kept {
            kept.sort_by_key(|(moment, event)| (*moment, event.node(pes)));
        }
    }

    pub(super) fn hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.hashes.hash(&mut hasher);
        hasher.finish()
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
