//! Numbering of what the jobs of one process make: each job numbers on from where those before it ended, so that a proxy, callback or
//! section that was kept from an earlier job is like nothing of a later one.

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU32, Ordering};

static CREATIONS: AtomicU32 = AtomicU32::new(0);
static FUTURES: AtomicU32 = AtomicU32::new(0);

/// The number of creations in one process after which numbers begin anew: a job has the other half for its own.
const CREATIONS_MAX: u32 = 1 << 31;

/// Numbers that no job of a process has given yet. All nodes of a job begin with the same ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Numbers {
    /// Of singletons, collections and sections.
    pub(crate) creations: u32,
    /// Of futures and of callbacks' closures.
    pub(crate) futures: u32,
}

impl Numbers {
    /// The numbers behind those that jobs of this process have given.
    pub(crate) fn unused() -> Self {
        let creations = CREATIONS.load(Ordering::Relaxed);
        let creations = if creations > CREATIONS_MAX { 0 } else { creations };
        Self { creations, futures: FUTURES.load(Ordering::Relaxed) }
    }

    /// The numbers behind both.
    pub(crate) fn or(self, other: Self) -> Self {
        Self { creations: self.creations.max(other.creations), futures: self.futures.max(other.futures) }
    }

    /// Takes note that a job of this process, which is over, has given the numbers before these.
    pub(crate) fn note(self) {
        CREATIONS.fetch_max(self.creations, Ordering::Relaxed);
        FUTURES.fetch_max(self.futures, Ordering::Relaxed);
    }
}
