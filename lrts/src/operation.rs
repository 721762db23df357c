//! Operation: a get or put as it was posted, one type for both.

use crate::error::TransferError;
use crate::lrts::{Completion, Get, Put, Token};
#[cfg(any(feature = "ofi", feature = "verbs", feature = "sim"))]
use crate::memory::Place;
use crate::memory::{Memory, MemoryMut};
use crate::region::RegionKey;

/// The memory at our end.
pub(crate) enum LocalMemory {
    /// A get fills it.
    Get(MemoryMut),
    /// A put reads it.
    Put(Memory),
}

impl LocalMemory {
    #[cfg(any(feature = "ofi", feature = "verbs", feature = "sim"))]
    pub(crate) fn place(&self) -> Place {
        match self {
            Self::Get(into) => into.place(),
            Self::Put(from) => from.place(),
        }
    }

    pub(crate) fn is_of_device(&self) -> bool {
        match self {
            Self::Get(into) => into.is_of_device(),
            Self::Put(from) => from.is_of_device(),
        }
    }

    #[cfg(any(feature = "ofi", feature = "verbs", feature = "sim"))]
    pub(crate) fn address(&self) -> *mut u8 {
        match self {
            Self::Get(into) => into.address(),
            Self::Put(from) => from.address().cast_mut(),
        }
    }
}

/// A get or put as it was posted.
pub(crate) struct Operation {
    pub(crate) key: RegionKey,
    pub(crate) offset: u64,
    pub(crate) len: usize,
    pub(crate) token: Token,
    pub(crate) local: LocalMemory,
}

impl Operation {
    /// How it ended; a get's memory goes back.
    pub(crate) fn end(self, result: Result<usize, TransferError>) -> Completion {
        let memory = match self.local {
            LocalMemory::Get(into) => Some(into),
            LocalMemory::Put(_) => None,
        };
        Completion { token: self.token, result, memory }
    }

    /// The get that it was.
    ///
    /// # Panics
    /// If it was none.
    pub(crate) fn into_get(self) -> Get {
        let Self { key, offset, len, token, local: LocalMemory::Get(into) } = self else {
            unreachable!("a get comes back as a get")
        };
        Get { key, offset, into, len, token }
    }

    /// The put that it was.
    ///
    /// # Panics
    /// If it was none.
    pub(crate) fn into_put(self) -> Put {
        let Self { key, offset, token, local: LocalMemory::Put(from), .. } = self else {
            unreachable!("a put comes back as a put")
        };
        Put { key, offset, from, token }
    }
}

impl From<Get> for Operation {
    fn from(Get { key, offset, into, len, token }: Get) -> Self {
        Self { key, offset, len, token, local: LocalMemory::Get(into) }
    }
}

impl From<Put> for Operation {
    fn from(Put { key, offset, from, token }: Put) -> Self {
        Self { key, offset, len: from.len(), token, local: LocalMemory::Put(from) }
    }
}
