//! Posting of gets and puts: one that another's claim is in the way of waits, and is tried again when this node is told, not before.
//!
//! 1. A transfer is tried, and refused because of a claim. Then this node asks for news (`Regions::ask`), and the transfer stays here,
//!    with the count of news from before it was tried.
//! 2. As long as the count is the same, it is left alone. When it has changed, all that wait are tried again.
//! 3. What is refused for another reason, after it has waited, is tried at every progress: of room nobody tells here.
//! 4. News come on this node's board, then by a wake-up. So a sleeper looks at the board after it has taken the wake-up.

use super::Reach;
use super::copying::mode_of;
use crate::error::TransferError;
use crate::lrts::{Posted, Sink};
use crate::operation::Operation;
use std::sync::atomic::Ordering;

impl Reach {
    /// Posts a transfer, which waits here if a claim is in its way.
    ///
    /// # Errors
    /// The transfer, when there is no room for it now.
    pub(super) fn post(&self, operation: Operation) -> Result<Posted, Operation> {
        let counted = self.regions.news();
        match self.transfer(operation) {
            Err(operation) if self.asks(&operation) => {
                self.waiting.push(operation, counted);
                Ok(Posted::Pending)
            }
            posted => posted,
        }
    }

    /// Asks for news of the claims that are in the way of a transfer. Returns whether there are such.
    fn asks(&self, operation: &Operation) -> bool {
        let (key, mode) = (&operation.key, mode_of(operation));
        if self.closing.load(Ordering::Acquire) {
            return false;
        }
        if key.node == self.regions.node() {
            return self.regions.ask(key, mode);
        }
        let neighbour = self.host_peers.as_ref().and_then(|host| host.neighbour(key.node));
        neighbour.is_some_and(|neighbour| neighbour.ask(self.regions.node(), key, mode))
    }

    /// Whether transfers wait for the end of a claim.
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether a transfer that waits for the end of a claim is to be tried again.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.waiting.is_due(&self.regions) || !self.waiting.is_empty() && self.closing.load(Ordering::Acquire)
    }

    /// Tries those again that wait, when it is time, and tells `sink` of those that are over. Returns whether any went on.
    #[inline]
    pub(super) fn try_again(&self, sink: &mut dyn Sink) -> bool {
        self.has_news() && self.try_all_again(sink)
    }

    #[cold]
    fn try_all_again(&self, sink: &mut dyn Sink) -> bool {
        let mut happened = false;
        for (operation, counted) in self.waiting.take() {
            let node = operation.key.node;
            match self.post(operation) {
                Ok(Posted::Done(completion)) => sink.completion(completion),
                Ok(Posted::Pending) => {}
                Err(operation) if self.closing.load(Ordering::Acquire) => {
                    sink.completion(operation.end(Err(TransferError::PeerLost(node))));
                }
                // With its old count of news, which has changed.
                Err(operation) => {
                    self.waiting.push(operation, counted);
                    continue;
                }
            }
            happened = true;
        }
        happened
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::single::Single;
    use crate::error::LrtsError;
    use crate::frame::Channel;
    use crate::ids::NodeId;
    use crate::lrts::{Completion, Get, Lrts, Put};
    use crate::reach::ReachOptions;
    use crate::region::claim::ClaimMode;
    use crate::region::{Held, RegionKey};

    #[derive(Default)]
    struct Ends(Vec<Completion>);

    impl Sink for Ends {
        fn frame(&mut self, _: NodeId, _: Channel, _: &[u8]) {
            unreachable!("there is one node");
        }

        fn completion(&mut self, completion: Completion) {
            self.0.push(completion);
        }

        fn peer_closed(&mut self, _: NodeId) {}

        fn peer_lost(&mut self, error: LrtsError) {
            panic!("{error}");
        }
    }

    fn alone() -> Reach {
        Reach::open(&mut Single::new(), &ReachOptions::default()).expect("it is alone")
    }

    fn get(reach: &Reach, key: RegionKey, len: usize) -> Posted {
        let into = reach.allocate(len);
        reach.get(Get { key, offset: 0, into, len, token: 7 }).expect("it waits")
    }

    #[test]
    fn a_transfer_waits_for_the_end_of_the_claim_in_its_way_and_is_not_tried_before() {
        for len in [100, 1 << 20] {
            let (reach, mut ends) = (alone(), Ends::default());
            let regions = reach.regions();
            let key = regions.register(Held::Target(reach.allocate(len))).expect("there is room");
            let claim = regions.claim(&key, 0, key.len, ClaimMode::Write).expect("nobody else claims it");
            assert!(matches!(get(&reach, key, len), Posted::Pending));
            assert!(reach.is_waiting() && !reach.has_news() && !reach.progress(&mut ends));
            assert!(reach.arm(), "there is nothing to do until the claim ends");
            drop(claim);
            assert!(reach.has_news() && !reach.arm(), "it is told, and woken");
            while ends.0.is_empty() {
                reach.progress(&mut ends);
            }
            assert_eq!(ends.0[0].result, Ok(len));
            assert!(!reach.is_waiting() && !reach.has_news());
        }
    }

    #[test]
    fn memory_among_others_is_filled_and_takes_no_get_and_no_put() {
        let reach = alone();
        let key = reach.regions().register_holey(reach.allocate(100)).expect("there is room");
        let refused = Err(TransferError::FilledInPlace(NodeId(0)));
        let Posted::Done(got) = get(&reach, key, 8) else { panic!("it is refused at once") };
        assert_eq!(got.result, refused);
        let from = reach.allocate(8).freeze();
        let put = reach.put(Put { key, offset: 0, from, token: 8 });
        let Ok(Posted::Done(put)) = put else { panic!("it is refused at once") };
        assert_eq!(put.result, refused);
        assert!(reach.regions().claim(&key, 0, 100, ClaimMode::Write).is_err());
        assert_eq!(reach.fill(&key).expect("nobody else claims it").len(), 100);
    }

    #[test]
    fn what_waits_for_memory_that_goes_is_told() {
        let (reach, mut ends) = (alone(), Ends::default());
        let regions = reach.regions();
        let key = regions.register(Held::Target(reach.allocate(100))).expect("there is room");
        let claim = regions.claim(&key, 0, key.len, ClaimMode::Write).expect("nobody else claims it");
        assert!(matches!(get(&reach, key, 100), Posted::Pending));
        assert!(regions.deregister(&key).expect("it is live").is_none(), "it is claimed");
        assert!(!regions.may_reap(), "nobody has let go");
        drop(claim);
        assert!(regions.may_reap());
        assert_eq!(regions.reap().len(), 1);
        assert!(!regions.may_reap());
        assert!(reach.progress(&mut ends));
        assert_eq!(ends.0[0].result, Err(TransferError::StaleKey(NodeId(0))));
    }

    #[test]
    fn what_waits_when_the_node_closes_ends() {
        let (reach, mut ends) = (alone(), Ends::default());
        let regions = reach.regions();
        let key = regions.register(Held::Target(reach.allocate(100))).expect("there is room");
        let claim = regions.claim(&key, 0, key.len, ClaimMode::Write).expect("nobody else claims it");
        assert!(matches!(get(&reach, key, 100), Posted::Pending));
        reach.shutdown();
        assert!(!reach.is_closed());
        reach.progress(&mut ends);
        assert_eq!(ends.0[0].result, Err(TransferError::PeerLost(NodeId(0))));
        assert!(reach.is_closed());
        drop(claim);
    }
}
