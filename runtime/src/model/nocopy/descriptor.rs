//! Descriptors of nocopy arguments: they travel between processes instead of the memory.

use super::eager::EagerBytes;
use chare_lrts::{NodeId, RegionKey, Token};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// A nocopy argument between processes.
#[derive(Serialize, Deserialize)]
pub(crate) enum Descriptor {
    /// The bytes themselves.
    Inline { bytes: EagerBytes, lender: Option<Lender> },
    /// The region from which to fetch the bytes, and the token with which to answer afterwards.
    Lent { key: RegionKey, token: Token },
}

impl Descriptor {
    /// The node that is told when the argument was taken.
    pub(crate) fn lender(&self) -> Option<NodeId> {
        match self {
            Self::Inline { lender, .. } => lender.map(|lender| lender.node),
            Self::Lent { key, .. } => Some(key.node),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Inline { bytes, .. } => bytes.memory.len(),
            Self::Lent { key, .. } => key.len as usize,
        }
    }
}

/// The bytes of nocopy arguments that have to be fetched, or read where they are lent.
pub(crate) fn lent_bytes(descriptors: &[Descriptor]) -> u64 {
    let lent = descriptors.iter().filter_map(|descriptor| match descriptor {
        Descriptor::Lent { key, .. } => Some(key.len),
        Descriptor::Inline { .. } => None,
    });
    lent.fold(0, u64::saturating_add)
}

/// The node that is told how much of an argument was taken, and its token for the argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Lender {
    pub(crate) node: NodeId,
    pub(crate) token: Token,
}

/// The nocopy arguments of a call: mostly one, which costs no allocation of its own.
pub(crate) type Few<T> = SmallVec<[T; 1]>;
