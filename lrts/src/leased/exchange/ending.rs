//! End of an exchange: goodbyes, losses, and what waits for either.

use super::{Exchange, Notification};
use crate::ambient::clock;
use crate::error::LrtsError;
use crate::fabric::goodbye::Meaning;
use crate::ids::NodeId;
use crate::leased::wire::Control;

impl Exchange {
    /// Begins to say goodbye, and to refuse what is new.
    pub(in crate::leased) fn close(&mut self) {
        self.say_goodbyes();
        self.push_out(true);
    }

    pub(super) fn say_goodbyes(&mut self) {
        for node in self.peers.nodes() {
            if self.peers.say_goodbye(node, self.poster.count(node)) {
                match self.peers.get(node).map(|peer| peer.way.next_out) {
                    Some(0) => self.keepalives.write_goodbye(node),
                    _ => self.peers.tell(node, Control::Goodbye),
                }
            }
        }
    }

    pub(super) fn check_keepalives(&mut self) -> bool {
        let heard = self.keepalives.check();
        let happened = !heard.is_empty();
        for (node, sign) in heard {
            let Some(peer) = self.peers.get_mut(node) else { continue };
            match peer.goodbyes.judge(sign, peer.way.order.is_new()) {
                Meaning::Known => {}
                Meaning::Goodbye => self.hear_goodbye(node),
                Meaning::Breach(cause) => self.breach(node, cause.to_owned()),
                Meaning::Lost(cause) => self.lose(node, cause),
            }
        }
        happened
    }

    pub(super) fn breach(&mut self, node: NodeId, cause: String) {
        let error = LrtsError::Protocol { peer: node, backend: self.backend, what: "message", cause };
        self.end(node, error);
    }

    pub(super) fn lose(&mut self, node: NodeId, cause: String) {
        self.end(node, LrtsError::PeerLost { peer: node, backend: self.backend, cause });
    }

    /// Ends all that there is with a peer, once.
    pub(super) fn end(&mut self, node: NodeId, error: LrtsError) {
        let Some(peer) = self.peers.get_mut(node).filter(|peer| !peer.goodbyes.is_lost()) else { return };
        let is_first = peer.goodbyes.lose();
        peer.waiting.clear();
        peer.server.freeze();
        peer.way.order.clear();
        // Before the operations that fail with it: the cause is told first.
        if is_first {
            (self.has_lost, self.missing) = (true, None);
            self.notifications.push(Notification::Lost(error));
        }
        let Self { endpoint, poster, notifications, .. } = self;
        poster.abandon(node, &mut **endpoint, &mut |completion| {
            notifications.push(Notification::Completion(completion));
        });
        if self.poster.has_doomed() {
            self.lingering.get_or_insert_with(clock::now);
        }
    }

    /// A message fails to arrive, of a peer that nobody names: the loss of one explains it, before or soon.
    pub(super) fn miss(&mut self, cause: String) {
        if !self.has_lost {
            self.missing.get_or_insert_with(|| (clock::now(), cause));
        }
    }

    /// Loses the sender of a message that failed to arrive, or all who may be.
    pub(super) fn lose_sender(&mut self, cause: &str) {
        let nodes = self.peers.nodes();
        let open = nodes.filter(|node| self.peers.get(*node).is_some_and(|peer| peer.goodbyes.is_open()));
        let gap = |node: &NodeId| {
            let order = &self.peers.get(*node)?.way.order;
            order.has_gap().then(|| order.describe_gap())
        };
        let (with_gap, others): (Vec<_>, Vec<_>) =
            open.map(|node| (node, gap(&node))).partition(|(_, gap)| gap.is_some());
        for (node, gap) in if with_gap.is_empty() { others } else { with_gap } {
            let message =
                gap.unwrap_or_else(|| "a message, from it or from another node, never came".to_owned());
            self.lose(node, format!("{message}: {cause}"));
        }
    }

    /// Closes the endpoint: the end of everything.
    pub(super) fn shut(&mut self, cause: &str) {
        self.endpoint.shut();
        for node in self.peers.nodes() {
            self.lose(node, cause.to_owned());
        }
        let Self { endpoint, poster, notifications, .. } = self;
        poster.abandon_all(&mut **endpoint, &mut |completion| {
            notifications.push(Notification::Completion(completion));
        });
    }

    /// Whether something ends by the clock, or by events that no descriptor announces.
    pub(in crate::leased) fn watches_clock(&self) -> bool {
        self.stalled || self.lingering.is_some() || self.missing.is_some()
    }

    /// Whether all goodbyes were exchanged, and no operation is open.
    pub(in crate::leased) fn is_closed(&self) -> bool {
        self.peers.are_over() && self.poster.is_idle()
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        // Only then may claims, memory and registrations end.
        self.endpoint.shut();
        self.registrations.clear(&mut *self.endpoint);
        self.poster.abandon_all(&mut *self.endpoint, &mut drop);
    }
}
