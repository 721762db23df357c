//! Names for everything a message can be about: newtypes, never bare integers.

pub use chare_lrts::NodeId;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One scheduler thread, counted from zero over the whole job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct PeId(pub u32);

impl fmt::Display for PeId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "PE {}", self.0)
    }
}

/// A singleton chare: where it lives, and the number its creator gave it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct ChareId {
    /// The PE it lives on.
    pub home: PeId,
    /// The PE that created it; together with `home` and `serial` unique in the job.
    pub creator: PeId,
    /// Counts what `creator` created on `home`.
    pub serial: u32,
}

/// An array, a group or a nodegroup: the PE that created it and a number that PE gave it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct CollectionId {
    /// The PE that created it.
    pub creator: PeId,
    /// Counts the creations of `creator`.
    pub serial: u32,
}

/// A member of a collection: the position in an array, the PE of a group, the node of a nodegroup.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct Index(pub u64);

/// Any one chare, as the destination of a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum Target {
    /// A singleton.
    Chare(ChareId),
    /// A member of a collection.
    Member(CollectionId, Index),
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chare(id) => write!(out, "chare {}.{}", id.creator.0, id.serial),
            Self::Member(_, index) => write!(out, "member {}", index.0),
        }
    }
}

/// A chare type: the hash of its full name, equal in every process of a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct ChareTypeId(pub u64);

/// An entry method: its chare type and its position in the `impl` block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct EntryId {
    /// Whose entry.
    pub chare_type: ChareTypeId,
    /// Which one.
    pub index: u16,
}

/// A task of a PE; stale once the task is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TaskKey {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}
