//! End of a leased exchange: losses that the network does not explain, operations that it does not give back, and what waits for either.

use super::LeasedExchange;
use crate::ambient::clock;
use crate::fabric::exchange::Exchange;
use crate::ids::NodeId;

impl LeasedExchange {
    /// Begins to say goodbye, and to refuse what is new.
    pub(in crate::leased) fn close(&mut self) {
        self.say_goodbyes();
        self.push_out(true);
    }

    /// Completes the operations at a node, but for those of which the network has pieces.
    pub(super) fn abandon_operations(&mut self, node: NodeId) {
        let Self { endpoint, poster, peering, .. } = self;
        poster.abandon(node, &mut **endpoint, &mut |completion| peering.complete([completion]));
    }

    /// A message fails to arrive, of a peer that nobody names: the loss of one explains it, before or soon.
    pub(super) fn miss(&mut self, cause: String) {
        if !self.has_lost {
            self.missing.get_or_insert_with(|| (clock::now(), cause));
        }
    }

    /// Loses the sender of a message that failed to arrive, or all who may be.
    pub(super) fn lose_sender(&mut self, cause: &str) {
        let peers = &self.peering.peers;
        let open = peers.nodes().filter(|node| peers.get(*node).is_some_and(|peer| peer.goodbyes.is_open()));
        let gap = |node: &NodeId| {
            let order = &peers.get(*node)?.way.order;
            order.has_gap().then(|| order.describe_gap())
        };
        let (with_gap, others): (Vec<_>, Vec<_>) =
            open.map(|node| (node, gap(&node))).partition(|(_, gap)| gap.is_some());
        for (node, gap) in if with_gap.is_empty() { others } else { with_gap } {
            let message =
                gap.unwrap_or_else(|| "a message, from it or from another node, never came".to_owned());
            self.lose(node, format!("{message}: {cause}"), ());
        }
    }

    /// Closes the endpoint: the end of everything.
    pub(super) fn shut(&mut self, cause: &str) {
        self.endpoint.shut();
        self.lose_all(cause, ());
        let Self { endpoint, poster, peering, .. } = self;
        poster.abandon_all(&mut **endpoint, &mut |completion| peering.complete([completion]));
    }

    /// Whether something ends by the clock, or by events that no descriptor announces.
    pub(in crate::leased) fn watches_clock(&self) -> bool {
        self.stalled || self.lingering.is_some() || self.missing.is_some()
    }

    /// Whether all goodbyes were exchanged, and no operation is open.
    pub(in crate::leased) fn is_closed(&self) -> bool {
        self.peering.peers.are_over() && self.poster.is_idle()
    }
}

impl Drop for LeasedExchange {
    fn drop(&mut self) {
        // Only then may claims, memory and registrations end.
        self.endpoint.shut();
        self.registrations.clear(&mut *self.endpoint);
        self.poster.abandon_all(&mut *self.endpoint, &mut drop);
    }
}
