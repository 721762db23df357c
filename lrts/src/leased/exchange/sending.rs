//! Outgoing half of a leased exchange: numbered messages, and operations.

use super::LeasedExchange;
use crate::fabric::exchange::{Content, Exchange, Refusal, Unopened};
use crate::fabric::peers::Peer;
use crate::fabric::wire::{Encoded, Kind};
use crate::frame::Frame;
use crate::ids::NodeId;
use crate::leased::wire::{Control, Header};
use crate::lrts::{Completion, NoRoom};
use crate::operation::Operation;
use crate::runs::Runs;

impl LeasedExchange {
    /// Sends a frame, as [`Exchange::send`]; one that found no room lets nobody sleep for long.
    ///
    /// # Errors
    /// [`NoRoom`], until some progress did something.
    pub(in crate::leased) fn send_frame(&mut self, target: NodeId, frame: Frame<'_>) -> Result<(), NoRoom> {
        let sent = self.send(target, frame, ());
        self.stalled |= sent.is_err();
        sent
    }

    pub(super) fn post_in_order(
        &mut self,
        target: NodeId,
        content: Content<'_, Control>,
    ) -> Result<(), Refusal> {
        match content {
            Content::Frame(frame) => {
                self.post_numbered(target, Kind::Frame(frame.channel), [frame.head, frame.body], false)
            }
            Content::Control(control) => {
                let is_hello = control == Control::Hello;
                let encoded = Encoded::of(&control);
                self.post_numbered(target, Kind::Control, [encoded.as_slice(), &[]], is_hello)
            }
        }
    }

    fn post_numbered(
        &mut self,
        target: NodeId,
        kind: Kind,
        body: [&[u8]; 2],
        is_hello: bool,
    ) -> Result<(), Refusal> {
        let source = self.peering.node;
        let Some(Peer { way, .. }) = self.peering.peers.get_mut(target) else { return Ok(()) };
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
    pub(in crate::leased) fn post_runs(
        &mut self,
        operation: Operation,
        runs: Runs,
    ) -> Result<Option<Completion>, Operation> {
        self.post_operation(operation, (), |exchange, operation| {
            let Self { poster, endpoint, .. } = exchange;
            poster.post(operation, runs, &mut **endpoint).map_err(Unopened::Failed)
        })
    }
}
