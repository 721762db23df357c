//! End of an exchange: goodbyes, losses, and what waits for either.

use super::{Exchange, Notification, Purpose, Running};
use crate::ambient::clock;
use crate::error::LrtsError;
use crate::fabric::goodbye::Meaning;
use crate::ids::NodeId;
use crate::mpi::callers::Ticket;
use crate::mpi::start::BACKEND;
use crate::mpi::wire::Control;

impl Exchange {
    pub(in crate::mpi) fn say_goodbyes(&mut self) {
        for node in self.peers.nodes() {
            if self.peers.say_goodbye(node, self.poster.count(node)) {
                self.peers.tell(node, Control::Goodbye);
            }
        }
    }

    pub(super) fn check_keepalives(&mut self, ticket: Ticket) -> bool {
        let heard = self.keepalives.check();
        let happened = !heard.is_empty();
        for (node, sign) in heard {
            let Some(peer) = self.peers.get_mut(node) else { continue };
            // Here goodbyes are messages, so that nobody counts as having said nothing.
            match peer.goodbyes.judge(sign, false) {
                Meaning::Known | Meaning::Goodbye => {}
                Meaning::Breach(cause) => self.breach(node, cause.to_owned(), ticket),
                Meaning::Lost(cause) => self.lose(node, cause, ticket),
            }
        }
        happened
    }

    pub(super) fn breach(&mut self, node: NodeId, cause: String, ticket: Ticket) {
        let error = LrtsError::Protocol { peer: node, backend: BACKEND, what: "message", cause };
        self.end(node, error, ticket);
    }

    pub(super) fn lose(&mut self, node: NodeId, cause: String, ticket: Ticket) {
        self.end(node, LrtsError::PeerLost { peer: node, backend: BACKEND, cause }, ticket);
    }

    /// MPI fails, and does not say whose fault it is.
    pub(super) fn lose_all(&mut self, cause: &str, ticket: Ticket) {
        for node in self.peers.nodes() {
            self.lose(node, cause.to_owned(), ticket);
        }
    }

    /// Ends all that there is with a peer, once.
    fn end(&mut self, node: NodeId, error: LrtsError, ticket: Ticket) {
        let Some(peer) = self.peers.get_mut(node).filter(|peer| !peer.goodbyes.is_lost()) else { return };
        let is_first = peer.goodbyes.lose();
        peer.waiting.clear();
        peer.server.abandon();
        let Self { poster, tags, .. } = self;
        let unanswered = poster.abandon(node, tags);
        self.complete(unanswered);
        for running in self.flows.iter_mut().filter(|running| running.peer == node) {
            self.lingering.get_or_insert_with(clock::now);
            running.flow.stop(ticket);
        }
        if is_first {
            self.notifications.push(Notification::Lost(error));
        }
    }

    /// Ends the operations of lost peers whose memory MPI does not give back.
    pub(super) fn give_up_lingering(&mut self) {
        self.lingering = None;
        let Self { flows, peers, poster, tags, notifications, .. } = self;
        for Running { purpose, flow, .. } in flows.extract_if(.., |one| peers.is_lost(one.peer)) {
            if let Purpose::Posted(id) = purpose {
                notifications.extend(poster.lose(id, flow, tags).map(Notification::Completion));
            }
        }
    }

    /// Whether something ends by the clock, or by what MPI alone knows.
    pub(in crate::mpi) fn watches_clock(&self) -> bool {
        !self.flows.is_empty() || self.endpoint.is_sending() || self.lingering.is_some()
    }

    /// Whether all goodbyes were heard, no operation is open, and MPI needs no buffer any more, except for messages to lost peers.
    pub(in crate::mpi) fn is_closed(&self) -> bool {
        self.peers.are_over()
            && self.poster.is_idle()
            && self.endpoint.under_way().all(|slot| self.peers.is_lost(self.sends[slot]))
    }
}
