//! What `reach` needs to know of a get or put: where to, how long, and how to post it again elsewhere.

use crate::lrts::{Completion, Get, Lrts, Posted, Put, Refused};
use crate::memcpy::copy;
use crate::region::{RegionKey, Regions};
use std::sync::Arc;

/// A get or a put.
pub(super) trait Transfer: Sized {
    /// What is left of it while a path has the rest.
    type Stub;

    fn key(&self) -> &RegionKey;
    fn len(&self) -> usize;
    fn within(self, regions: &Arc<Regions>) -> Result<Posted, Refused<Self>>;
    fn over(self, path: &dyn Lrts) -> Result<Posted, Refused<Self>>;
    /// Whether a backend has this operation by itself.
    fn is_offered(&self, path: &dyn Lrts) -> bool;
    fn stub(&self) -> Self::Stub;
    /// The operation as it was, made of its stub and what a failed completion handed back.
    fn again(stub: Self::Stub, failed: Completion) -> Self;
}

impl Transfer for Get {
    type Stub = (RegionKey, u64, usize);

    fn key(&self) -> &RegionKey {
        &self.key
    }

    fn len(&self) -> usize {
        self.len
    }

    fn within(self, regions: &Arc<Regions>) -> Result<Posted, Refused<Self>> {
        copy::get(regions, self)
    }

    fn over(self, path: &dyn Lrts) -> Result<Posted, Refused<Self>> {
        path.get(self)
    }

    fn is_offered(&self, path: &dyn Lrts) -> bool {
        path.capabilities().get
    }

    fn stub(&self) -> Self::Stub {
        (self.key, self.offset, self.len)
    }

    fn again((key, offset, len): Self::Stub, failed: Completion) -> Self {
        let into = failed.memory.expect("a get's memory comes back with its completion");
        Self { key, offset, into, len, token: failed.token }
    }
}

impl Transfer for Put {
    type Stub = (RegionKey, u64, crate::memory::Memory);

    fn key(&self) -> &RegionKey {
        &self.key
    }

    fn len(&self) -> usize {
        self.from.len()
    }

    fn within(self, regions: &Arc<Regions>) -> Result<Posted, Refused<Self>> {
        copy::put(regions, self)
    }

    fn over(self, path: &dyn Lrts) -> Result<Posted, Refused<Self>> {
        path.put(self)
    }

    fn is_offered(&self, path: &dyn Lrts) -> bool {
        path.capabilities().put
    }

    fn stub(&self) -> Self::Stub {
        (self.key, self.offset, self.from.clone())
    }

    fn again((key, offset, from): Self::Stub, failed: Completion) -> Self {
        Self { key, offset, from, token: failed.token }
    }
}
