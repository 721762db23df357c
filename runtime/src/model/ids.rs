//! Ids of everything that a message can be about: newtypes, never bare integers.

use bytemuck::{Pod, Zeroable};
pub use chare_lrts::NodeId;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// One scheduler thread, counted from zero over the whole job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PeId(pub u32);

impl From<u64> for PeId {
    /// The PE with this number. No job has as many PEs as a number takes that does not fit: what is sent there fails and says so.
    fn from(number: u64) -> Self {
        Self(u32::try_from(number).unwrap_or(u32::MAX))
    }
}

impl fmt::Display for PeId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "PE {}", self.0)
    }
}

/// A singleton chare: its home, and the number its creator gave it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct ChareId {
    /// The PE that calls of it go to: it lives there, or was given away from there.
    pub home: PeId,
    /// The PE that created it; together with `home` and `serial` unique in the job.
    pub creator: PeId,
    /// Counts the singletons that `creator` created on `home`.
    pub serial: u32,
}

/// An array, a group or a nodegroup: the PE that created it and a number that PE gave it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct CollectionId {
    /// The PE that created it.
    pub creator: PeId,
    /// Counts the creations of `creator`.
    pub serial: u32,
}

/// A broadcast over a collection that may grow: the collection, the PE that called all members, and a number that PE gave the call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct BroadcastId {
    pub collection: CollectionId,
    /// The PE that called.
    pub caller: PeId,
    /// Counts the calls of all members of `collection` by `caller`.
    pub serial: u64,
}

/// An audience: the members that hear a broadcast, counted for the PE that called them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct AudienceId {
    /// The PE that called.
    pub caller: PeId,
    /// Counts the audiences of `caller`.
    pub serial: u64,
}

/// A section: the PE that formed it, which is the root of its tree, and a number that PE gave it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct SectionId {
    /// The PE that formed it.
    pub creator: PeId,
    /// Counts the sections of `creator`.
    pub serial: u32,
}

impl fmt::Display for SectionId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "section {}.{}", self.creator.0, self.serial)
    }
}

/// A member of a collection: the packed form of an element's [`crate::ArrayIndex`], the PE of a group, the node of a nodegroup.
///
/// 128 bits, in four words so that a [`Target`] leaves room beside it.
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Index([u32; 4]);

impl Index {
    /// The index with these bits.
    #[inline]
    pub(crate) const fn from_bits(bits: u128) -> Self {
        Self([bits as u32, (bits >> 32) as u32, (bits >> 64) as u32, (bits >> 96) as u32])
    }

    #[inline]
    pub(crate) const fn bits(self) -> u128 {
        (self.high() as u128) << 64 | self.low() as u128
    }

    #[inline]
    pub(crate) const fn low(self) -> u64 {
        (self.0[1] as u64) << 32 | self.0[0] as u64
    }

    #[inline]
    pub(crate) const fn high(self) -> u64 {
        (self.0[3] as u64) << 32 | self.0[2] as u64
    }
}

impl From<u64> for Index {
    #[inline]
    fn from(number: u64) -> Self {
        Self::from_bits(u128::from(number))
    }
}

impl Serialize for Index {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.bits().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Index {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u128::deserialize(deserializer).map(Self::from_bits)
    }
}

impl Hash for Index {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.low());
        state.write_u64(self.high());
    }
}

impl Ord for Index {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bits().cmp(&other.bits())
    }
}

impl PartialOrd for Index {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Index({:#x})", self.bits())
    }
}

/// Any one chare, as the destination of a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) enum Target {
    /// A singleton.
    Chare(ChareId),
    /// A member of a collection.
    Member(CollectionId, Index),
}

/// A target in seven words, all of which are always there.
///
/// The index comes first: code that copies a message moves 16 bytes at a time, and reading back a number that lies across two such moves
/// makes the processor wait until both are over (20 cycles; [`Target`] has its index there).
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct PackedTarget {
    /// The index of a member.
    index: Index,
    creator: u32,
    serial: u32,
    /// The home of a singleton; [`NO_HOME`] of a member.
    home: u32,
}

/// The home of a target that is a member. A job has fewer PEs, so only a forged singleton names this one.
const NO_HOME: u32 = u32::MAX;

impl PackedTarget {
    /// Packs a target; `None` if it is forged.
    #[inline]
    pub(crate) fn pack(target: Target) -> Option<Self> {
        match target {
            Target::Chare(ChareId { home: PeId(NO_HOME), .. }) => None,
            Target::Chare(ChareId { home: PeId(home), creator: PeId(creator), serial }) => {
                Some(Self { index: Index([0; 4]), creator, serial, home })
            }
            Target::Member(CollectionId { creator: PeId(creator), serial }, index) => {
                Some(Self { index, creator, serial, home: NO_HOME })
            }
        }
    }

    #[inline]
    pub(crate) fn unpack(self) -> Target {
        let Self { index, creator, serial, home } = self;
        let creator = PeId(creator);
        match home {
            NO_HOME => Target::Member(CollectionId { creator, serial }, index),
            home => Target::Chare(ChareId { home: PeId(home), creator, serial }),
        }
    }
}

/// A chare type: the hash of its full name, equal in every process of a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ChareTypeId(pub u64);

/// An entry method: its chare type and its position in the `impl` block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct EntryId {
    /// The chare type that has the entry.
    pub chare_type: ChareTypeId,
    /// The entry's position.
    pub index: u16,
}

/// A message between PEs, as timelines name it: its first sender, and a number that this PE gave it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct MessageId(pub(crate) u64);

impl MessageId {
    /// Bits of the number; a PE that sends a message each nanosecond has names for a quarter of an hour.
    const NUMBER_BITS: u32 = 40;

    pub(crate) fn new(sender: PeId, number: u64) -> Self {
        Self(u64::from(sender.0) << Self::NUMBER_BITS | number)
    }

    pub(crate) fn sender(self) -> PeId {
        PeId((self.0 >> Self::NUMBER_BITS) as u32)
    }

    /// The name for one PE of a message to all of them, which this is the first of.
    pub(crate) fn of_pe(self, pe: PeId) -> Self {
        Self(self.0.wrapping_add(pe.0.into()))
    }
}

/// A task of a PE; stale once the task is over.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct TaskKey {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

/// A call that has come to its chare, and waits there for its buffers; unique on its PE.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct BegunCall(pub(crate) u64);

/// One of the runtime's services, by its place in the list of all of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ServiceId(pub(crate) u8);
