//! Messages of syncs: from elements to their homes, from homes to PE 0, and back.

use crate::model::envelope::SystemMessage;
use crate::model::ids::{CollectionId, Index, PeId, ServiceId};
use chare_lrts::codec::{CodecError, Writer};
use serde::{Deserialize, Serialize};

pub(crate) const ID: ServiceId = ServiceId(7);

/// An element of an array.
pub(super) type Member = (CollectionId, Index);

/// A message about a sync for one PE.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum SyncMessage {
    /// To a home: one of its elements has come to a sync.
    Come { sync: u64 },
    /// To PE 0: a home is complete that nobody has asked, and knows these arrays that take part.
    Begun { sync: u64, arrays: Vec<CollectionId> },
    /// From PE 0 to all: a sync has begun, in which elements of these arrays take part.
    Asked { sync: u64, arrays: Vec<CollectionId> },
    /// To the first PE of a node: so many PEs of the node, and of the nodes below, are complete.
    Complete { sync: u64, pes: u64 },
    /// To PE 0: elements are to be balanced, whatever they do.
    Balance,
    /// From PE 0 to all: what does each have?
    Measure { round: Round },
    /// To PE 0: what a PE has.
    Measured { round: Round, from: PeId, measured: Box<MeasuredHere> },
    /// From PE 0 to one: the round is over, and of the elements there these are to move.
    Over { round: Round, moves: Vec<(Member, PeId)> },
}

/// A balancing: the reason of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Round {
    /// All have come to this sync.
    Sync(u64),
    /// The program has asked for it.
    Asked,
    /// Its time has come.
    Due,
}

/// What one PE has: its elements, and the time that it took for everything else.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct MeasuredHere {
    /// In seconds.
    pub(super) fixed: f64,
    pub(super) elements: Vec<MeasuredElement>,
    /// The seconds until the moves of the last balancing had come here.
    pub(super) carrying_out: f64,
    /// The bytes that may still be moved to its node, from one PE of each that has to say so.
    pub(super) room: Option<u64>,
    /// What its elements have called, if the balancer looks at that.
    pub(super) calls: Vec<MeasuredCalls>,
}

/// Calls of one element by another one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MeasuredCalls {
    pub(super) from: Member,
    pub(super) to: Member,
    pub(super) calls: u64,
    pub(super) bytes: u64,
}

/// An element as a balancer sees it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MeasuredElement {
    pub(super) member: Member,
    /// The seconds that its entries have taken.
    pub(super) time: f64,
    /// Its load, if it says that itself.
    pub(super) said: Option<f64>,
    pub(super) bytes: u64,
    pub(super) may_move: bool,
    pub(super) position: Option<[f64; 3]>,
    /// What it is bound to: all elements of the same index with the same first array.
    pub(super) bond: Option<CollectionId>,
}

impl SystemMessage for SyncMessage {
    fn service(&self) -> ServiceId {
        ID
    }

    fn describe(&self) -> String {
        "a sync".to_owned()
    }

    fn is_counted(&self) -> bool {
        // A job that only balances itself from time to time is quiet.
        !matches!(
            self,
            Self::Measure { round: Round::Due }
                | Self::Measured { round: Round::Due, .. }
                | Self::Over { round: Round::Due, .. }
        )
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Measured { measured, .. } => {
                measured.elements.len() * size_of::<MeasuredElement>()
                    + measured.calls.len() * size_of::<MeasuredCalls>()
            }
            Self::Over { moves, .. } => moves.len() * size_of::<(Member, PeId)>(),
            Self::Begun { arrays, .. } | Self::Asked { arrays, .. } => size_of_val(&**arrays),
            _ => 0,
        }
    }

    fn write(&self, to: PeId, out: &mut Writer<'_>) -> Result<(), CodecError> {
        out.write(&(to, self))
    }
}
