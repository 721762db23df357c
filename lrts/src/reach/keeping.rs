//! Keeping of heap memory: blocks that are used again, and when they go back to the system.

use crate::memory::MemoryMut;
use crate::memory::kept::KeptBlocks;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a block lies unused before it may go, as the pages of an empty arena do: longer than most programs pause between two phases.
const KEPT_FOR: Duration = Duration::from_secs(2);

/// The heap memory that a node keeps for the next buffers and messages.
#[derive(Default)]
pub(super) struct Keeping {
    blocks: Arc<KeptBlocks>,
    looked: Mutex<Option<Instant>>,
}

impl Keeping {
    /// Long memory, whose bytes are whatever they were before.
    pub(super) fn allocate(&self, len: usize) -> Option<MemoryMut> {
        self.blocks.allocate(len)
    }

    /// Keeps no more than so many bytes.
    pub(super) fn limit(&self, bytes: usize) {
        self.blocks.limit(bytes);
    }

    /// Gives back what has long been unused. Returns how long until there may be more.
    pub(super) fn give_back(&self, now: Instant) -> Option<Duration> {
        let mut looked = self.looked.lock();
        let left = looked.map_or(Duration::ZERO, |at| (at + KEPT_FOR).saturating_duration_since(now));
        if !left.is_zero() {
            return self.blocks.are_some_unused().then_some(left);
        }
        *looked = Some(now);
        self.blocks.give_back().then_some(KEPT_FOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_goes_back_when_it_was_unused_for_a_while() {
        let (keeping, begin) = (Keeping::default(), crate::ambient::clock::now());
        let at = |seconds| begin + Duration::from_secs(seconds);
        assert_eq!(keeping.give_back(at(0)), None);
        drop(keeping.allocate(1 << 20));
        assert_eq!(keeping.give_back(at(1)), Some(Duration::from_secs(1)));
        assert_eq!(keeping.give_back(at(2)), Some(KEPT_FOR), "it was not here when looked at before");
        assert_eq!(keeping.give_back(at(3)), Some(Duration::from_secs(1)));
        assert_eq!(keeping.give_back(at(4)), None);
        assert!(!keeping.blocks.are_some_unused());
    }
}
