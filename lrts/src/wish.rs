//! A get or put on its way: one type for both.

use crate::error::TransferError;
use crate::lrts::{Completion, Get, Put, Token};
use crate::memory::{Memory, MemoryMut};
use crate::region::RegionKey;

/// The memory at our end.
pub(crate) enum What {
    /// A get fills it.
    Get(MemoryMut),
    /// A put reads it.
    Put(Memory),
}

/// A get or put as it was posted.
pub(crate) struct Wish {
    pub(crate) key: RegionKey,
    pub(crate) offset: u64,
    pub(crate) len: usize,
    pub(crate) token: Token,
    pub(crate) what: What,
}

impl Wish {
    /// How it ended; a get's memory goes back.
    pub(crate) fn end(self, result: Result<usize, TransferError>) -> Completion {
        let memory = match self.what {
            What::Get(into) => Some(into),
            What::Put(_) => None,
        };
        Completion { token: self.token, result, memory }
    }

    /// The get that it was.
    ///
    /// # Panics
    /// If it was none.
    pub(crate) fn into_get(self) -> Get {
        let Self { key, offset, len, token, what: What::Get(into) } = self else {
            unreachable!("a get comes back as a get")
        };
        Get { key, offset, into, len, token }
    }

    /// The put that it was.
    ///
    /// # Panics
    /// If it was none.
    pub(crate) fn into_put(self) -> Put {
        let Self { key, offset, token, what: What::Put(from), .. } = self else {
            unreachable!("a put comes back as a put")
        };
        Put { key, offset, from, token }
    }
}

impl From<Get> for Wish {
    fn from(Get { key, offset, into, len, token }: Get) -> Self {
        Self { key, offset, len, token, what: What::Get(into) }
    }
}

impl From<Put> for Wish {
    fn from(Put { key, offset, from, token }: Put) -> Self {
        Self { key, offset, len: from.len(), token, what: What::Put(from) }
    }
}
