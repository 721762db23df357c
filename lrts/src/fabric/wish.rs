//! A get or put on its way to another node: one type for both, and what is decided before a network sees it.

use crate::error::TransferError;
use crate::lrts::{Completion, Get, Posted, Put, Refused, Token};
use crate::memcpy::copy;
use crate::memory::{Memory, MemoryMut};
use crate::region::{RegionKey, Regions};
use std::sync::Arc;

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
}

/// Copies what is this node's own, and lets `post` bring what is another's.
///
/// # Errors
/// The operation, when `post` has no room for it.
pub(crate) fn get(
    regions: &Arc<Regions>,
    get: Get,
    post: impl FnOnce(Wish) -> Result<Posted, Wish>,
) -> Result<Posted, Refused<Get>> {
    if get.key.node == regions.node() {
        return copy::get(regions, get);
    }
    if let Err(error) = copy::local_room(&get) {
        let failed = Completion { token: get.token, result: Err(error), memory: Some(get.into) };
        return Ok(Posted::Done(failed));
    }
    let Get { key, offset, into, len, token } = get;
    post(Wish { key, offset, len, token, what: What::Get(into) }).map_err(|wish| match wish.what {
        What::Get(into) => Refused(Get { key, offset, into, len, token }),
        What::Put(_) => unreachable!("a get comes back as a get"),
    })
}

/// The same for a put.
///
/// # Errors
/// As [`get`].
pub(crate) fn put(
    regions: &Arc<Regions>,
    put: Put,
    post: impl FnOnce(Wish) -> Result<Posted, Wish>,
) -> Result<Posted, Refused<Put>> {
    if put.key.node == regions.node() {
        return copy::put(regions, put);
    }
    let Put { key, offset, from, token } = put;
    let len = from.len();
    post(Wish { key, offset, len, token, what: What::Put(from) }).map_err(|wish| match wish.what {
        What::Put(from) => Refused(Put { key, offset, from, token }),
        What::Get(_) => unreachable!("a put comes back as a put"),
    })
}
