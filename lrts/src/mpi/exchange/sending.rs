//! Outgoing half of an exchange: frames, own messages and operations.

use super::{Exchange, Notification, Purpose, Running};
use crate::emulated::wire::OPERATIONS_MAX;
use crate::frame::Frame;
use crate::ids::NodeId;
use crate::lrts::{Completion, NoRoom};
use crate::mpi::callers::Ticket;
use crate::mpi::endpoint::Letter;
use crate::mpi::server::Task;
use crate::mpi::wire::{Header, Kind};
use crate::operation::Operation;

impl Exchange {
    /// Sends a frame; lost peers swallow any number.
    ///
    /// # Errors
    /// [`NoRoom`], until some progress did something.
    ///
    /// # Panics
    /// If there is no such peer.
    pub(in crate::mpi) fn send(
        &mut self,
        target: NodeId,
        frame: Frame<'_>,
        ticket: Option<Ticket>,
    ) -> Result<(), NoRoom> {
        let peer = self.peers.get(target).unwrap_or_else(|| panic!("{target} is no peer"));
        if peer.goodbyes.is_lost() {
            return Ok(());
        }
        if !peer.goodbyes.may_say() {
            return Err(NoRoom);
        }
        if !peer.waiting.is_empty() {
            self.flush(target, ticket);
            if self.peers.next(target).is_some() {
                return Err(NoRoom);
            }
        }
        self.write(target, Kind::Frame(frame.channel), [frame.head, frame.body], ticket)?;
        if let Some(peer) = self.peers.get_mut(target) {
            peer.sent.add(frame.len());
        }
        Ok(())
    }

    /// Writes a message and sends it, or leaves it to a thread that may call MPI.
    fn write(
        &mut self,
        target: NodeId,
        kind: Kind,
        body: [&[u8]; 2],
        ticket: Option<Ticket>,
    ) -> Result<(), NoRoom> {
        let header = Header { source: self.node, kind }.encode();
        let letter = self.endpoint.write(&[&header, body[0], body[1]]).ok_or(NoRoom)?;
        self.sends[letter.slot] = target;
        match ticket {
            Some(ticket) if self.letters.is_empty() => self.send_letter(letter, ticket),
            _ => self.letters.push_back(letter),
        }
        Ok(())
    }

    pub(super) fn send_letter(&mut self, letter: Letter, ticket: Ticket) {
        let target = self.sends[letter.slot];
        let Self { endpoint, peers, .. } = self;
        let Some(peer) = peers.get(target).filter(|peer| !peer.goodbyes.is_lost()) else {
            return endpoint.discard(letter);
        };
        if let Err(error) = endpoint.send(letter, &peer.way, ticket) {
            self.lose(target, error.to_string(), ticket);
        }
    }

    /// Posts a get or put.
    ///
    /// # Errors
    /// The operation when too many are open at that peer, or in all.
    pub(in crate::mpi) fn post_operation(
        &mut self,
        operation: Operation,
        ticket: Option<Ticket>,
    ) -> Result<Option<Completion>, Operation> {
        let node = operation.key.node;
        match self.peers.may_post(node) {
            Ok(true) if self.poster.count(node) < OPERATIONS_MAX => {}
            Ok(_) => return Err(operation),
            Err(cause) => return Ok(Some(operation.end(Err(cause)))),
        }
        let control = self.poster.post(operation, &mut self.tags)?;
        self.peers.tell(node, control);
        self.flush(node, ticket);
        Ok(None)
    }

    /// Starts serving a peer.
    pub(super) fn begin(&mut self, node: NodeId, task: Task) {
        self.peers.tell(node, task.answer);
        if let Some((id, flow)) = task.flow {
            self.flows.push(Running { peer: node, purpose: Purpose::Served(id), flow });
        }
    }

    /// Writes what waits for a peer. Returns whether anything found room.
    pub(super) fn flush(&mut self, node: NodeId, ticket: Option<Ticket>) -> bool {
        let mut left = false;
        while let Some(control) = self.peers.next(node) {
            if self.write(node, Kind::Control, [&control.encode(), &[]], ticket).is_err() {
                break;
            }
            left = true;
            self.peers.told(node);
        }
        self.peers.note(node);
        left
    }

    pub(super) fn complete(&mut self, completions: impl IntoIterator<Item = Completion>) {
        self.notifications.extend(completions.into_iter().map(Notification::Completion));
    }
}
