//! Transfer: a get or put on one of the paths of `reach`, and how it is posted again on another.

use crate::error::TransferError;
use crate::lrts::{Completion, Lrts, Posted, Refused};
use crate::memcpy::copy;
use crate::memory::Memory;
use crate::operation::{LocalMemory, Operation};
use crate::region::claim::ClaimMode;
use crate::region::{RegionKey, Regions};
use crate::runs::Runs;
use std::sync::Arc;

/// Copies within this process.
pub(super) fn copy_within(operation: Operation, regions: &Arc<Regions>) -> Result<Posted, Operation> {
    match operation.local {
        LocalMemory::Get(_) => copy::get(regions, operation.into_get()).map_err(|Refused(get)| get.into()),
        LocalMemory::Put(_) => copy::put(regions, operation.into_put()).map_err(|Refused(put)| put.into()),
    }
}

/// Posts an operation on a path.
pub(super) fn post_on(path: &dyn Lrts, operation: Operation) -> Result<Posted, Operation> {
    match operation.local {
        LocalMemory::Get(_) => path.get(operation.into_get()).map_err(|Refused(get)| get.into()),
        LocalMemory::Put(_) => path.put(operation.into_put()).map_err(|Refused(put)| put.into()),
    }
}

/// Posts an operation on runs on a path that moves such.
pub(super) fn post_runs_on(path: &dyn Lrts, operation: Operation, runs: &Runs) -> Result<Posted, Operation> {
    match operation.local {
        LocalMemory::Get(_) => path.get_runs(operation.into_get(), runs).map_err(|Refused(get)| get.into()),
        LocalMemory::Put(_) => path.put_runs(operation.into_put(), runs).map_err(|Refused(put)| put.into()),
    }
}

/// Whether a backend reads (or writes) by itself.
pub(super) fn is_native(path: &dyn Lrts, mode: ClaimMode) -> bool {
    let capabilities = path.capabilities();
    match mode {
        ClaimMode::Read => capabilities.get,
        ClaimMode::Write => capabilities.put,
    }
}

/// Result of a transfer on a path that may not work.
pub(super) enum Tried<T> {
    /// The path does what it is for.
    Works(T),
    /// It does not, for this reason: another may take the operation, as it was.
    Fails(Operation, TransferError),
}

impl<T> Tried<T> {
    pub(super) fn map<U>(self, change: impl FnOnce(T) -> U) -> Tried<U> {
        match self {
            Self::Works(it) => Tried::Works(change(it)),
            Self::Fails(operation, cause) => Tried::Fails(operation, cause),
        }
    }
}

/// Stub of an operation that a path has: enough to post it again. It holds the memory of a put: to be dropped before anybody hears of the end.
pub(super) struct Stub {
    key: RegionKey,
    offset: u64,
    len: usize,
    from: Option<Memory>,
}

impl Stub {
    /// The stub of an operation, to be kept while a path has the rest.
    pub(super) fn of(operation: &Operation) -> Self {
        let from = match &operation.local {
            LocalMemory::Get(_) => None,
            LocalMemory::Put(from) => Some(from.clone()),
        };
        Self { key: operation.key, offset: operation.offset, len: operation.len, from }
    }

    /// Tells whether a completion says that the path does not work.
    pub(super) fn judge(self, completion: Completion) -> Tried<Completion> {
        let Self { key, offset, len, from } = self;
        match completion {
            Completion { token, result: Err(cause @ TransferError::Refused { .. }), memory } => {
                let local = match from {
                    Some(from) => LocalMemory::Put(from),
                    None => LocalMemory::Get(memory.expect("a get's memory comes back with its completion")),
                };
                Tried::Fails(Operation { key, offset, len, token, local }, cause)
            }
            completion => Tried::Works(completion),
        }
    }
}
