//! Registrations that have ended, but whose memory a transfer still touches.
//!
//! 1. Whoever hears that a transfer is over may hear it before this node's own network has let go of the memory: of the last bytes that
//!    it sent, another thread may take the answer first.
//! 2. So what ends is deregistered, and handed back when no claim is left: mostly at once, else by [`reap`].
//! 3. What waits counts as a message on its way: there is no quiescence before it is handed back.

use crate::node::Node;
use crate::pe::Pe;
use chare_lrts::{Held, Memory, RegionKey};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What runs with the memory when the last transfer is off it.
type HandBack = Box<dyn FnOnce(&Node, Held) + Send>;

/// See the file's head.
#[derive(Default)]
pub(crate) struct Closing {
    waiting: Mutex<Vec<(RegionKey, HandBack)>>,
    /// Length of `waiting`, for those who poll.
    count: AtomicUsize,
}

impl Closing {
    /// Whether anything waits to be handed back.
    pub(crate) fn is_waiting(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Drops what will never be handed back, when the job is over: what waits here holds on to its node.
    pub(crate) fn clear(&self) {
        let waiting = std::mem::take(&mut *self.waiting.lock());
        self.count.store(0, Ordering::Relaxed);
        drop(waiting);
    }

    fn take(&self, key: &RegionKey) -> Option<HandBack> {
        let mut waiting = self.waiting.lock();
        let position = waiting.iter().position(|(closing, _)| closing == key)?;
        let hand_back = waiting.swap_remove(position).1;
        self.count.store(waiting.len(), Ordering::Relaxed);
        Some(hand_back)
    }
}

/// Ends a registration; `hand_back` runs now or from [`reap`], without a lock.
pub(crate) fn close(node: &Node, key: &RegionKey, hand_back: impl FnOnce(&Node, Held) + Send + 'static) {
    // Held meanwhile, so that whoever reaps the memory finds what is to be done with it.
    let mut waiting = node.closing.waiting.lock();
    match node.network.regions().deregister(key) {
        Ok(Some(held)) => {
            drop(waiting);
            hand_back(node, held);
        }
        Ok(None) => {
            node.outside.sent.add_shared(1);
            waiting.push((*key, Box::new(hand_back)));
            node.closing.count.store(waiting.len(), Ordering::Relaxed);
            drop(waiting);
            // A PE looks again once it has announced its sleep; other threads leave that to one.
            if Pe::try_current(|_| ()).is_none() {
                node.wake(0);
            }
        }
        Err(_) => unreachable!("a registration is closed once, by its owner"),
    }
}

/// Frees memory of ended registrations, hands back what was closed. Returns whether there was any.
pub(crate) fn reap(node: &Node) -> bool {
    let drained = node.network.regions().reap();
    let any = !drained.is_empty();
    for (key, held) in drained {
        if let Some(hand_back) = node.closing.take(&key) {
            hand_back(node, held);
            node.outside.processed.add_shared(1);
        }
    }
    any
}

/// A registration of lent memory that is to end.
pub(super) struct Ended {
    pub(super) key: RegionKey,
    /// Of a block that several may have been lent: a handle by which it was known.
    pub(super) memory: Option<Memory>,
}

impl Ended {
    /// Ends it; `then` runs when this node holds the memory for nobody any more.
    pub(super) fn end(self, node: &Node, then: impl FnOnce(&Node) + Send + 'static) {
        let Self { key, memory } = self;
        close(node, &key, move |node, held| {
            drop((held, memory));
            then(node);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Registration, SendBuffer, Sent, lent, send};
    use crate::job::Job;
    use crate::pe::Pe;
    use chare_lrts::claim::ClaimMode;
    use std::sync::Arc;

    #[test]
    fn a_sender_hears_when_its_own_network_has_let_go_of_the_buffer() {
        let ways = [Registration::Now, Registration::Lazily];
        let code = Job::in_process(1, 1).run(move || async move {
            for (registration, keep) in ways.map(|way| [(way, false), (way, true)]).concat() {
                let node = Pe::current(|pe| Arc::clone(&pe.node));
                let regions = node.network.regions();
                let (sent, on_sent) = crate::future::<Sent<u8>>();
                let buffer = SendBuffer::from(vec![1; 100]).registration(registration).on_sent(on_sent);
                let buffer = if keep { buffer.keep_registered() } else { buffer };
                let lent = node.transfers.lend(regions, send::leave(&node, buffer.erase()));
                let (key, token) = lent.unwrap_or_else(|_| unreachable!("there is room"));
                let claim = regions.claim(&key, 0, key.len, ClaimMode::Read).expect("it is live");

                // The receiver's word, before the network has let go.
                node.outside.sent.add_shared(1);
                lent::released(&node, token, 60).expect("it is out");
                assert!(node.closing.is_waiting());
                drop(claim);
                let sent = sent.await;
                assert_eq!(sent.transferred(), 60);
                sent.into_buffer().try_into_mut().expect("nobody else holds it");
                assert!(!node.closing.is_waiting());
            }
        });
        assert_eq!(code.expect("the job runs"), 0);
    }
}
