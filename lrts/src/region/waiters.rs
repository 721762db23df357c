//! Waiters: operations of others that another's claim on a region of this node is in the way of, until this node is told of its end.
//!
//! 1. An operation is refused because of a claim. Then this node asks for news of the claim's end ([`Regions::ask`]), and the operation
//!    stays here, with the count of news from before it was tried.
//! 2. As long as the count is the same, none is due: nobody tries again, and the node may sleep. When it has changed, all are.
//! 3. News come on this node's board, then by a wake-up ([`Regions::on_news`]). So a sleeper looks here after it has taken the wake-up.

use super::claim::ClaimMode;
use super::{Claim, ClaimError, RegionKey, Regions};
use crate::error::TransferError;
use std::sync::Arc;

/// The operations that wait, by their names.
pub(crate) struct Waiters<T> {
    regions: Arc<Regions>,
    names: Vec<T>,
    /// The least of their counts of news.
    tried_at: u64,
}

impl<T> Waiters<T> {
    /// None yet, for claims on these regions.
    pub(crate) fn new(regions: Arc<Regions>) -> Self {
        Self { regions, names: Vec::new(), tried_at: 0 }
    }

    /// Claims by `claim` for an operation, which waits here if another claim is in its way: `None`.
    ///
    /// # Errors
    /// Why the claim is never granted.
    pub(crate) fn claim(
        &mut self,
        name: T,
        (key, mode): (&RegionKey, ClaimMode),
        claim: impl Fn() -> Result<Claim, ClaimError>,
    ) -> Result<Option<Claim>, TransferError> {
        loop {
            let counted = self.regions.news();
            match claim() {
                Ok(claim) => return Ok(Some(claim)),
                Err(ClaimError::Failed(error)) => return Err(error),
                Err(ClaimError::Busy) if self.regions.ask(key, mode) => {
                    self.tried_at = if self.is_empty() { counted } else { self.tried_at.min(counted) };
                    self.names.push(name);
                    return Ok(None);
                }
                // It has just ended.
                Err(ClaimError::Busy) => {}
            }
        }
    }

    /// Whether none waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether any is to be tried again.
    pub(crate) fn is_due(&self) -> bool {
        self.waiting_since().is_some_and(|counted| counted != self.regions.news())
    }

    /// The count of news that has to change before any is to be tried again, if any waits.
    pub(crate) fn waiting_since(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.tried_at)
    }

    /// Takes all out.
    pub(crate) fn take(&mut self) -> Vec<T> {
        std::mem::take(&mut self.names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::NodeId;
    use crate::memory::MemoryMut;
    use crate::region::Held;
    use std::cell::Cell;

    #[test]
    fn what_waits_is_tried_once_for_each_news() {
        let regions = Arc::new(Regions::new(NodeId(0)).expect("a board"));
        let key = regions.register(Held::Target(MemoryMut::heap_zeroed(8))).expect("there is room");
        let mut waiters = Waiters::new(Arc::clone(&regions));
        let looks = Cell::new(0);
        let claim = || {
            looks.set(looks.get() + 1);
            regions.claim(&key, 0, 8, ClaimMode::Write)
        };
        let mut held = regions.claim(&key, 0, 8, ClaimMode::Write).expect("nobody else claims it");
        for round in 1..=3 {
            for name in 0..2 {
                assert!(matches!(waiters.claim(name, (&key, ClaimMode::Write), claim), Ok(None)));
            }
            assert!(!waiters.is_due() && waiters.len() == 2 && looks.get() == 3 * round - 1);
            drop(held);
            assert!(waiters.is_due(), "it is told");
            assert_eq!(waiters.take(), [0, 1]);
            assert!(!waiters.is_due(), "nobody waits");
            held = claim().expect("it is free");
        }
        drop(regions.deregister(&key));
        assert!(matches!(waiters.claim(2, (&key, ClaimMode::Write), claim), Err(TransferError::StaleKey(_))));
        assert!(waiters.is_empty());
    }
}
