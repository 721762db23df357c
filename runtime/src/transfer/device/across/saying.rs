//! What nodes say to each other of memory of devices, on its way out.

use super::pinned::as_memory;
use crate::model::envelope::frame::{self, Header};
use crate::model::nocopy::{DeviceFrame, DeviceRefusal, GivenMemory, Leaving, Lender, NocopyKind, Release};
use crate::node::Node;
use crate::node::devices::Sender;
use crate::transfer::lend::send::describe_one;
use crate::transfer::take::gathering::Failure;
use chare_device::Pinned;
use chare_lrts::{NodeId, Token};
use std::sync::Arc;

/// Sends a message to another node.
pub(in crate::transfer::device) fn send(node: &Node, peer: NodeId, said: DeviceFrame) -> Result<(), String> {
    let frame = frame::encode(&Header::Device(said), None)?;
    node.outside.sent.add_shared(1);
    node.post(&node.outside, peer, frame);
    Ok(())
}

/// Tells an owner that what it has offered is not used, or not any more.
pub(in crate::transfer::device) fn send_done(node: &Node, owner: Lender) {
    let said = DeviceFrame::Done { token: owner.token };
    send(node, owner.node, said).unwrap_or_else(|cause| unreachable!("a token fits a message: {cause}"));
}

/// Tells who asked for a part of a transfer of registered memory that it does not come.
pub(super) fn send_refusal(node: &Node, (peer, transfer): (NodeId, Token), failure: Failure) {
    let given = GivenMemory::Refused(DeviceRefusal::Failed(failure.into_words()));
    send(node, peer, DeviceFrame::Given { transfer, given })
        .unwrap_or_else(|cause| unreachable!("a few words fit a message: {cause}"));
}

/// Sends a chunk of what an entry sent, which comes back by its release.
pub(super) fn send_chunk(
    node: &Arc<Node>,
    (peer, transfer): (NodeId, Token),
    at: u64,
    (chunk, back): (Pinned, Arc<Release>),
    sender: &Sender,
) {
    let leaving = Leaving::plain(as_memory(chunk).freeze(), Some(back));
    let (_, nocopy) = describe_one(node, peer, NocopyKind::Received, leaving);
    let given = GivenMemory::Chunk { at, nocopy };
    if let Err(cause) = send(node, peer, DeviceFrame::Given { transfer, given }) {
        Failure::Words(cause).end(node, format!("sending a device buffer of {sender} to {peer}"));
    }
}
