//! Helped copies: copies under way to memory of this node with which the owner of the source helps, each until both have written what
//! they have taken.
//!
//! 1. A copy is noted before help is asked for.
//! 2. The owner says that it has written its pieces if it has taken any; see [`division`](chare_lrts::Divided). So this node, which knows
//!    how many it has taken once none is left, waits for that word or for nothing.
//! 3. The last of both ends the copy. A copy whose helper is lost ends with the job.
//! 4. The word is an allegation: it is taken from the node that was asked, once.

use chare_lrts::{NodeId, RegionKey};
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

/// The helped copies of one node, by the regions that they write, with the nodes that were asked for help.
#[derive(Default)]
pub(crate) struct HelpedCopies {
    under_way: Mutex<FxHashMap<RegionKey, (NodeId, State)>>,
}

impl HelpedCopies {
    /// Notes a copy to this region, with which a node is asked for help.
    pub(crate) fn begin(&self, helper: NodeId, target: RegionKey) {
        self.under_way.lock().insert(target, (helper, State::Begun));
    }

    /// Notes that this node has written its pieces, and whether the helper has taken some; `then` runs when those are written, too.
    pub(crate) fn end(&self, target: &RegionKey, is_helped: bool, then: impl FnOnce() + Send + 'static) {
        {
            let mut under_way = self.under_way.lock();
            let noted = under_way.remove(target);
            if is_helped && let Some((helper, State::Begun)) = noted {
                under_way.insert(*target, (helper, State::Waiting(Box::new(then))));
                return;
            }
        }
        then();
    }

    /// Notes that the helper has written its pieces.
    ///
    /// # Errors
    /// A copy that is not under way, was helped with before, or with which another node was asked for help, in words.
    pub(crate) fn helped(&self, helper: NodeId, target: &RegionKey) -> Result<(), String> {
        let then = {
            let mut under_way = self.under_way.lock();
            let is_asked = under_way.get(target).is_some_and(|(asked, _)| *asked == helper);
            match is_asked.then(|| under_way.remove(target)).flatten() {
                Some((_, State::Begun)) => {
                    under_way.insert(*target, (helper, State::Helped));
                    return Ok(());
                }
                Some((_, State::Waiting(then))) => then,
                Some((_, State::Helped)) | None => {
                    return Err(format!("help of {helper} with a copy that is not under way"));
                }
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
        let helper = NodeId(1);
        (1..=3).for_each(|generation| copies.begin(helper, key(generation)));
        copies.end(&key(1), false, then());
        assert_eq!(ended(), 1, "nobody helped");
        copies.end(&key(2), true, then());
        assert_eq!(ended(), 1);
        copies.helped(helper, &key(2)).expect("it is under way");
        assert_eq!(ended(), 2);
        copies.helped(helper, &key(3)).expect("it is under way");
        assert_eq!(ended(), 2);
        copies.end(&key(3), true, then());
        assert_eq!(ended(), 3);
        for generation in 1..=4 {
            assert!(
                copies.helped(helper, &key(generation)).expect_err("it is over").contains("not under way")
            );
        }
    }

    #[test]
    fn only_the_node_that_was_asked_has_helped() {
        let (copies, ended) = (HelpedCopies::default(), Arc::new(AtomicU32::new(0)));
        let then_ended = Arc::clone(&ended);
        copies.begin(NodeId(1), key(1));
        assert!(copies.helped(NodeId(2), &key(1)).expect_err("a lie").contains("not under way"));
        copies.end(&key(1), true, move || {
            then_ended.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(ended.load(Ordering::Relaxed), 0, "the pieces are not written yet");
        copies.helped(NodeId(1), &key(1)).expect("it is under way");
        assert_eq!(ended.load(Ordering::Relaxed), 1);
    }
}
