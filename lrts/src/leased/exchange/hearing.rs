//! Incoming half of a leased exchange: the endpoint's events and what peers say.

use super::order::WindowPosition;
use super::{LeasedExchange, Message, Notification, Peers};
use crate::emulated::wire::OperationId;
use crate::fabric::exchange::Exchange;
use crate::fabric::pool::Arrival;
use crate::fabric::wire::{Kind, decode_control};
use crate::ids::NodeId;
use crate::leased::endpoint::Event;
use crate::leased::server::Network;
use crate::leased::wire::{Control, Header};
use std::sync::Arc;

impl LeasedExchange {
    pub(super) fn take(&mut self, event: Event) {
        match event {
            Event::Received(arrival) => self.hear(arrival),
            Event::Sent(slot) => {
                if let (node, true) = self.sends[slot]
                    && let Some(peer) = self.peering.peers.get_mut(node)
                {
                    peer.way.greeted[1] = true;
                }
            }
            Event::Moved(slot) => {
                let moved = self.poster.moved(slot);
                self.finish(moved.map(|(id, _)| id));
            }
            Event::SendFailed(slot, cause) => self.lose(self.sends[slot].0, cause, ()),
            Event::MoveFailed(slot, cause) => {
                let moved = self.poster.moved(slot);
                if let Some((_, node)) = moved {
                    self.lose(node, cause, ());
                }
                self.finish(moved.map(|(id, _)| id));
            }
            Event::Room => {}
            Event::Missing(cause) => self.miss(cause),
            Event::Broken(node, cause) => self.lose(node, cause, ()),
            Event::Failed(cause) => self.shut(&cause),
        }
    }

    /// Ends an operation if it is over: first the release, then the completion.
    pub(super) fn finish(&mut self, id: impl IntoIterator<Item = OperationId>) {
        for id in id {
            if let Some((node, completion)) = self.poster.finish(id, &mut *self.endpoint) {
                if completion.result.is_ok() {
                    // At once: the target waits for it, and this node may have no reason to come back soon.
                    self.peering.peers.tell(node, Control::Release { id });
                    self.flush(node, ());
                }
                self.peering.notifications.push(Notification::Completion(completion));
            }
        }
    }

    /// A message came in: takes it and all that waited for it, or keeps it until the earlier ones are here.
    pub(super) fn hear(&mut self, arrival: Arrival) {
        let incoming = Arc::clone(&self.incoming);
        let header = Header::decode(incoming.bytes(&arrival)).map(|(header, _)| header);
        let Some(Header { sequence, source, .. }) = header.filter(|header| header.door == self.door) else {
            // A stranger.
            return self.give_back(arrival);
        };
        let Some(peer) = self.peering.peers.get_mut(source).filter(|peer| peer.goodbyes.is_open()) else {
            return self.give_back(arrival);
        };
        let (order, bytes) = (&mut peer.way.order, incoming.bytes(&arrival));
        match order.place(sequence, bytes.len()) {
            WindowPosition::Due => {
                self.accept(source, Message::Arrived(arrival));
                let next = |peers: &mut Peers| peers.get_mut(source)?.way.order.take_next();
                while let Some(bytes) = next(&mut self.peering.peers) {
                    self.accept(source, Message::Kept(bytes));
                }
            }
            WindowPosition::Early => {
                crate::sometimes!("a message came before an earlier one");
                order.keep(sequence, bytes.to_vec());
                self.give_back(arrival);
            }
            WindowPosition::Past => {
                self.give_back(arrival);
                self.breach(source, format!("message {sequence} for the second time"), ());
            }
            WindowPosition::Beyond => {
                let cause = order.describe_gap();
                self.give_back(arrival);
                self.lose(source, cause, ());
            }
        }
    }

    /// Takes the next message of a peer.
    pub(super) fn accept(&mut self, source: NodeId, message: Message) {
        let incoming = Arc::clone(&self.incoming);
        let heard = match Header::decode(message.bytes(&incoming)) {
            Some((Header { kind: Kind::Frame(channel), .. }, _)) => {
                self.peering.notifications.push(Notification::Frame { source, channel, message });
                return;
            }
            Some((_, body)) => decode_control(body),
            None => Err("a header that changed".to_owned()),
        };
        self.dispose(message);
        self.hear_control(source, heard, ());
    }

    pub(super) fn obey_lease(&mut self, source: NodeId, control: Control) -> Result<(), String> {
        let Self { endpoint, registrations, peering, poster, .. } = self;
        let Some(peer) = peering.peers.get_mut(source) else { return Ok(()) };
        let endpoint = &mut **endpoint;
        let network = &mut Network { endpoint: &mut *endpoint, registrations };
        let ended = match control {
            Control::Hello => {
                if !std::mem::replace(&mut peer.way.greeted[0], true) && source < peering.node {
                    peering.peers.tell(source, Control::Hello);
                }
                return Ok(());
            }
            Control::Goodbye => {
                self.hear_goodbye(source);
                return Ok(());
            }
            // The peer hears our goodbye before any answer, which ends what it asked for.
            Control::Open { .. } if !peer.goodbyes.may_say() => return Ok(()),
            Control::Open { id, range, writing } => {
                return peer.server.open(id, range, writing, network, &mut peer.waiting);
            }
            Control::Release { id } => return peer.server.release(id, network),
            Control::Granted { id, window } => return poster.granted(id, source, window),
            Control::Failed { id, reason } => poster.failed(id, source, Some(reason), endpoint)?,
            Control::Unregistered { id } => poster.failed(id, source, None, endpoint)?,
        };
        peering.complete([ended]);
        Ok(())
    }

    /// A message was read.
    pub(in crate::leased) fn dispose(&mut self, message: Message) {
        if let Message::Arrived(arrival) = message {
            self.give_back(arrival);
        }
    }

    /// Gives a buffer back to the network, now or with the next progress.
    pub(super) fn give_back(&mut self, arrival: Arrival) {
        if let Err(arrival) = self.endpoint.post_receive(arrival) {
            self.unposted.push(arrival);
        }
    }
}
