//! Outgoing half of an exchange: frames, own messages and operations.

use super::Exchange;
use crate::emulated::wire::OPERATIONS_MAX;
use crate::fabric::peers::Peer;
use crate::frame::Frame;
use crate::ids::NodeId;
use crate::leased::endpoint::Refusal;
use crate::leased::wire::{Control, Header, Kind};
use crate::lrts::{Completion, NoRoom};
use crate::operation::Operation;
use crate::runs::Runs;

impl Exchange {
    /// Sends a frame; lost peers swallow any number.
    ///
    /// # Errors
    /// [`NoRoom`], until some progress did something.
    ///
    /// # Panics
    /// If there is no such peer.
    pub(in crate::leased) fn send(&mut self, target: NodeId, frame: Frame<'_>) -> Result<(), NoRoom> {
        let peer = self.peers.get(target).unwrap_or_else(|| panic!("{target} is no peer"));
        if peer.goodbyes.is_lost() {
            return Ok(());
        }
        if !peer.goodbyes.may_say() {
            return Err(NoRoom);
        }
        if !peer.waiting.is_empty() {
            self.flush(target);
            if self.peers.next(target).is_some() {
                self.stalled = true;
                return Err(NoRoom);
            }
        }
        match self.post(target, Kind::Frame(frame.channel), [frame.head, frame.body], false) {
            Ok(()) => {
                if let Some(peer) = self.peers.get_mut(target) {
                    peer.sent.add(frame.len());
                }
                Ok(())
            }
            Err(Refusal::Full) => {
                self.stalled = true;
                Err(NoRoom)
            }
            Err(Refusal::Broken(cause)) => {
                self.lose(target, cause);
                Ok(())
            }
        }
    }

    pub(super) fn post(
        &mut self,
        target: NodeId,
        kind: Kind,
        body: [&[u8]; 2],
        is_hello: bool,
    ) -> Result<(), Refusal> {
        let source = self.node;
        let Some(Peer { way, .. }) = self.peers.get_mut(target) else { return Ok(()) };
        let header = Header { door: way.door, sequence: way.next_out, source, kind }.encode();
        if let Some(slot) = self.endpoint.send(target, &[&header, body[0], body[1]], is_hello)? {
            self.sends[slot] = (target, is_hello);
        }
        way.next_out = way.next_out.wrapping_add(1);
        Ok(())
    }

    /// Posts a get or put of runs.
    ///
    /// # Errors
    /// The operation when too many are open at that peer.
    pub(in crate::leased) fn post_operation(
        &mut self,
        operation: Operation,
        runs: Runs,
    ) -> Result<Option<Completion>, Operation> {
        let node = operation.key.node;
        match self.peers.may_post(node) {
            Ok(true) if self.poster.count(node) < OPERATIONS_MAX => {}
            Ok(_) => return Err(operation),
            Err(cause) => return Ok(Some(operation.end(Err(cause)))),
        }
        let open = match self.poster.post(operation, runs, &mut *self.endpoint) {
            Ok(open) => open,
            Err(failed) => return Ok(Some(failed)),
        };
        self.peers.tell(node, open);
        self.flush(node);
        Ok(None)
    }

    /// Sends what waits for a peer. Returns whether anything left.
    pub(super) fn flush(&mut self, node: NodeId) -> bool {
        let mut left = false;
        while let Some(control) = self.peers.next(node) {
            let is_hello = control == Control::Hello;
            match self.post(node, Kind::Control, [control.encode().as_slice(), &[]], is_hello) {
                Ok(()) => {
                    left = true;
                    self.peers.told(node);
                }
                Err(Refusal::Full) => break,
                Err(Refusal::Broken(cause)) => {
                    self.lose(node, cause);
                    break;
                }
            }
        }
        self.peers.note(node);
        left
    }
}
