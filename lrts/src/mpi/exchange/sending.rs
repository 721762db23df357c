//! Outgoing half of a matched exchange: written messages, operations, and what peers are served.

use super::{MatchedExchange, Purpose, Running};
use crate::fabric::exchange::{Content, Exchange, Refusal, Unopened};
use crate::fabric::wire::{Encoded, Header, Kind};
use crate::ids::NodeId;
use crate::lrts::Completion;
use crate::mpi::callers::Ticket;
use crate::mpi::endpoint::Letter;
use crate::mpi::server::Task;
use crate::mpi::wire::Control;
use crate::operation::Operation;

impl MatchedExchange {
    /// Writes a message and sends it, or leaves it to a thread that may call MPI.
    pub(super) fn write(
        &mut self,
        target: NodeId,
        content: Content<'_, Control>,
        ticket: Option<Ticket>,
    ) -> Result<(), Refusal> {
        let header = |kind| Header { source: self.peering.node, kind }.encode();
        let written = match content {
            Content::Frame(frame) => {
                self.endpoint.write(&[&header(Kind::Frame(frame.channel)), frame.head, frame.body])
            }
            Content::Control(control) => {
                self.endpoint.write(&[&header(Kind::Control), Encoded::of(&control).as_slice()])
            }
        };
        let letter = written.ok_or(Refusal::Full)?;
        self.sends[letter.slot] = target;
        match ticket {
            Some(ticket) if self.letters.is_empty() => self.send_letter(letter, ticket),
            _ => self.letters.push_back(letter),
        }
        Ok(())
    }

    pub(super) fn send_letter(&mut self, letter: Letter, ticket: Ticket) {
        let target = self.sends[letter.slot];
        let Self { endpoint, peering, .. } = self;
        let Some(peer) = peering.peers.get(target).filter(|peer| !peer.goodbyes.is_lost()) else {
            return endpoint.discard(letter);
        };
        if let Err(error) = endpoint.send(letter, &peer.way, ticket) {
            self.lose(target, error.to_string(), Some(ticket));
        }
    }

    /// Posts a get or put.
    ///
    /// # Errors
    /// The operation when too many are open at that peer, or in all.
    pub(in crate::mpi) fn post_whole(
        &mut self,
        operation: Operation,
        ticket: Option<Ticket>,
    ) -> Result<Option<Completion>, Operation> {
        self.post_operation(operation, ticket, |exchange, operation| {
            exchange.poster.post(operation, &mut exchange.tags).map_err(Unopened::Refused)
        })
    }

    /// Starts serving a peer.
    pub(super) fn begin(&mut self, node: NodeId, task: Task) {
        self.peering.peers.tell(node, task.answer);
        if let Some((id, flow)) = task.flow {
            self.flows.push(Running { peer: node, purpose: Purpose::Served(id), flow });
        }
    }
}
