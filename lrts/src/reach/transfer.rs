//! A get or put on one of the paths of `reach`, and how it is posted again on another.

use crate::error::TransferError;
use crate::lrts::{Completion, Lrts, Posted, Refused};
use crate::memcpy::copy;
use crate::memory::Memory;
use crate::region::{RegionKey, Regions};
use crate::wish::{What, Wish};
use std::sync::Arc;

impl Wish {
    /// Copies within this process.
    pub(super) fn within(self, regions: &Arc<Regions>) -> Result<Posted, Self> {
        match self.what {
            What::Get(_) => copy::get(regions, self.into_get()).map_err(|Refused(get)| get.into()),
            What::Put(_) => copy::put(regions, self.into_put()).map_err(|Refused(put)| put.into()),
        }
    }

    /// Posts it.
    pub(super) fn over(self, path: &dyn Lrts) -> Result<Posted, Self> {
        match self.what {
            What::Get(_) => path.get(self.into_get()).map_err(|Refused(get)| get.into()),
            What::Put(_) => path.put(self.into_put()).map_err(|Refused(put)| put.into()),
        }
    }

    /// Whether a backend has this operation by itself.
    pub(super) fn is_offered(&self, path: &dyn Lrts) -> bool {
        let capabilities = path.capabilities();
        match self.what {
            What::Get(_) => capabilities.get,
            What::Put(_) => capabilities.put,
        }
    }

    /// What to keep of it while a path has the rest.
    pub(super) fn stub(&self) -> Stub {
        let from = match &self.what {
            What::Get(_) => None,
            What::Put(from) => Some(from.clone()),
        };
        Stub { key: self.key, offset: self.offset, len: self.len, from }
    }
}

/// What came of a transfer on a path that may not work.
pub(super) enum Tried<T> {
    /// The path does what it is for.
    Works(T),
    /// It does not, for this reason: another may take the wish, as it was.
    Fails(Wish, TransferError),
}

impl<T> Tried<T> {
    pub(super) fn map<U>(self, change: impl FnOnce(T) -> U) -> Tried<U> {
        match self {
            Self::Works(it) => Tried::Works(change(it)),
            Self::Fails(wish, cause) => Tried::Fails(wish, cause),
        }
    }
}

/// What is left of a wish while a path has the rest. It holds the memory of a put: to be dropped before anybody hears of the end.
pub(super) struct Stub {
    key: RegionKey,
    offset: u64,
    len: usize,
    from: Option<Memory>,
}

impl Stub {
    /// What the completion means.
    pub(super) fn judge(self, completion: Completion) -> Tried<Completion> {
        let Self { key, offset, len, from } = self;
        match completion {
            Completion { token, result: Err(cause @ TransferError::Refused { .. }), memory } => {
                let what = match from {
                    Some(from) => What::Put(from),
                    None => What::Get(memory.expect("a get's memory comes back with its completion")),
                };
                Tried::Fails(Wish { key, offset, len, token, what }, cause)
            }
            completion => Tried::Works(completion),
        }
    }
}
