//! Incoming half of a matched exchange: the endpoint's events and what peers say.

use super::{Ends, MatchedExchange, Notification, Purpose, Running};
use crate::fabric::exchange::Exchange;
use crate::fabric::pool::Arrival;
use crate::fabric::wire::{Header, Kind, decode_control};
use crate::ids::NodeId;
use crate::mpi::callers::Ticket;
use crate::mpi::endpoint::Event;
use crate::mpi::server::Request;
use crate::mpi::wire::{Control, is_transfer_tag};
use std::sync::Arc;

impl MatchedExchange {
    pub(super) fn take(&mut self, event: Event, ticket: Ticket) {
        match event {
            Event::Received(arrival, rank) => self.hear(arrival, rank, ticket),
            Event::Sent => {}
            Event::SendFailed(slot, cause) => self.lose(self.sends[slot], cause, Some(ticket)),
        }
    }

    fn hear(&mut self, arrival: Arrival, rank: u32, ticket: Ticket) {
        let incoming = Arc::clone(&self.incoming);
        let decoded = Header::decode(incoming.bytes(&arrival));
        let known = decoded.and_then(|(header, body)| {
            let peer = self.peering.peers.get(header.source)?;
            (peer.way.rank == rank && peer.goodbyes.is_open()).then_some((header, body))
        });
        // Messages of strangers and of lost peers are ignored.
        let Some((Header { source, kind }, body)) = known else { return self.read.push(arrival) };
        if let Kind::Frame(channel) = kind {
            return self.peering.notifications.push(Notification::Frame {
                source,
                channel,
                message: arrival,
            });
        }
        let heard = decode_control(body);
        self.read.push(arrival);
        self.hear_control(source, heard, Some(ticket));
    }

    pub(super) fn obey_match(&mut self, source: NodeId, control: Control) -> Result<(), String> {
        let Self { endpoint, peering, poster, tags, .. } = self;
        let Some(peer) = peering.peers.get_mut(source) else { return Ok(()) };
        let ends = Ends { own: endpoint.own(), peer: &peer.way };
        match control {
            Control::Goodbye => self.hear_goodbye(source),
            // It hears our goodbye before any answer, which ends what it asked for.
            Control::Get { .. } | Control::Put { .. } if !peer.goodbyes.may_say() => {}
            Control::Get { id, range, tag } => {
                let task = peer.server.open(id, range, Request::Get { tag }, &ends, tags)?;
                task.into_iter().for_each(|task| self.begin(source, task));
            }
            Control::Put { id, range } => {
                let task = peer.server.open(id, range, Request::Put, &ends, tags)?;
                task.into_iter().for_each(|task| self.begin(source, task));
            }
            Control::Sending { id } => {
                let flow = poster.sending(id, source, ends.receiving())?;
                self.flows.push(Running { peer: source, purpose: Purpose::Posted(id), flow });
            }
            Control::Receiving { id, tag } if !is_transfer_tag(tag) => {
                return Err(format!(
                    "it waits for operation {id} under the tag {tag}, which no transfer has"
                ));
            }
            Control::Receiving { id, tag } => {
                let flow = poster.receiving(id, source, peer.way.clone(), tag)?;
                self.flows.push(Running { peer: source, purpose: Purpose::Posted(id), flow });
            }
            Control::Done { id } => {
                let completion = poster.done(id, source, tags)?;
                peering.complete(completion);
            }
            Control::Failed { id, reason } => {
                let completion = poster.failed(id, source, reason, tags)?;
                peering.complete(completion);
            }
        }
        Ok(())
    }
}
