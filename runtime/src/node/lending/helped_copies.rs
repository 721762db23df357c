//! Helped copies: copies under way to memory of this node with which the owner of the source helps, each until both have written what
//! they have taken.
//!
//! 1. A copy is noted before help is asked for.
//! 2. The owner says that it has written its pieces if it has taken any; see [`division`](chare_lrts::Divided). So this node, which knows
//!    how many it has taken once none is left, waits for that word or for nothing.
//! 3. The last of both ends the copy. A copy whose helper is lost ends with the job.

use chare_lrts::RegionKey;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

/// Closure that runs when all of a copy is written.
type Then = Box<dyn FnOnce() + Send>;

enum State {
    /// Neither this node nor the helper is known to be done.
    Begun,
    /// The helper is.
    Helped,
    /// This node is.
    Waiting(Then),
}

/// The helped copies of one node, by the regions that they write.
#[derive(Default)]
pub(crate) struct HelpedCopies {
    under_way: Mutex<FxHashMap<RegionKey, State>>,
}

impl HelpedCopies {
    /// Notes a copy to this region.
    pub(crate) fn begin(&self, target: RegionKey) {
        self.under_way.lock().insert(target, State::Begun);
    }

    /// Notes that this node has written its pieces, and whether the helper has taken some; `then` runs when those are written, too.
    pub(crate) fn end(&self, target: &RegionKey, is_helped: bool, then: impl FnOnce() + Send + 'static) {
        {
            let mut under_way = self.under_way.lock();
            let state = under_way.remove(target);
            if is_helped && matches!(state, Some(State::Begun)) {
                under_way.insert(*target, State::Waiting(Box::new(then)));
                return;
            }
        }
        then();
    }

    /// Notes that the helper has written its pieces.
    ///
    /// # Errors
    /// A copy that is not under way, or was helped with before, in words.
    pub(crate) fn helped(&self, target: &RegionKey) -> Result<(), String> {
        let then = {
            let mut under_way = self.under_way.lock();
            match under_way.remove(target) {
                Some(State::Begun) => {
                    under_way.insert(*target, State::Helped);
                    return Ok(());
                }
                Some(State::Waiting(then)) => then,
                Some(State::Helped) | None => return Err("help with a copy that is not under way".to_owned()),
            }
        };
        then();
        Ok(())
    }

    /// Drops the closures that will never run, when the job is over: they hold on to the node.
    pub(crate) fn clear(&self) {
        let under_way = std::mem::take(&mut *self.under_way.lock());
        drop(under_way);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use chare_lrts::NodeId;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn key(generation: u64) -> RegionKey {
        RegionKey { node: NodeId(0), slot: 0, generation, len: 8 }
    }

    #[test]
    fn the_last_of_both_ends_a_copy_once() {
        let (copies, ended) = (HelpedCopies::default(), Arc::new(AtomicU32::new(0)));
        let then = || {
            let ended = Arc::clone(&ended);
            move || {
                ended.fetch_add(1, Ordering::Relaxed);
            }
        };
        let ended = || ended.load(Ordering::Relaxed);
        (1..=3).for_each(|generation| copies.begin(key(generation)));
        copies.end(&key(1), false, then());
        assert_eq!(ended(), 1, "nobody helped");
        copies.end(&key(2), true, then());
        assert_eq!(ended(), 1);
        copies.helped(&key(2)).expect("it is under way");
        assert_eq!(ended(), 2);
        copies.helped(&key(3)).expect("it is under way");
        assert_eq!(ended(), 2);
        copies.end(&key(3), true, then());
        assert_eq!(ended(), 3);
        for generation in 1..=4 {
            assert!(copies.helped(&key(generation)).expect_err("it is over").contains("not under way"));
        }
    }
}
