//! Answers of a device buffer's owner: gives who asks the buffer in chunks, or shows where it is.

use super::outflow::{Outflow, Sink};
use super::saying::send;
use crate::delivery::zerocopy::device::continuing::continue_later;
use crate::delivery::zerocopy::device::ending::lend;
use crate::delivery::zerocopy::gathering::Failure;
use crate::model::nocopy::{DeviceFrame, GivenMemory, LeavingDevice};
use crate::node::Node;
use crate::node::devices::Sender;
use chare_lrts::{NodeId, Token};
use std::sync::Arc;

/// Takes a part of what was asked for.
///
/// # Errors
/// What does not fit, in words.
pub(in crate::delivery::zerocopy::device) fn given(
    node: &Arc<Node>,
    source: NodeId,
    transfer: Token,
    given: GivenMemory,
) -> Result<(), String> {
    let taker = node.devices.asked.look(transfer, Arc::clone);
    let taker = taker.ok_or_else(|| format!("memory of a device for {transfer:#x}, which has not asked"))?;
    taker.take(node, source, given)
}

/// Takes a buffer back that nobody uses any more.
///
/// # Errors
/// A token that is not out, in words.
pub(in crate::delivery::zerocopy::device) fn done(node: &Arc<Node>, token: Token) -> Result<(), String> {
    let leaving = node.devices.lent.take_back(token);
    drop(leaving.ok_or_else(|| not_out(token))?);
    Ok(())
}

fn not_out(token: Token) -> String {
    format!("device buffer {token:#x}, which is not out")
}

/// Gives who asked the first `bytes` of a buffer, when the streams before it are past it.
///
/// # Errors
/// What does not fit, in words.
pub(in crate::delivery::zerocopy::device) fn asked(
    node: &Arc<Node>,
    to: (NodeId, Token),
    token: Token,
    bytes: u64,
    maps: bool,
) -> Result<(), String> {
    // Memory that was adopted goes in chunks: nobody here can export it.
    let is_adopted = |(leaving, _): &(LeavingDevice, Sender)| leaving.buffer.arena().is_adopted();
    let maps = maps && node.devices.lent.look(token, is_adopted) == Some(false);
    let leaving =
        if maps { node.devices.lent.look(token, Clone::clone) } else { node.devices.lent.take_back(token) };
    let (leaving, sender) = leaving.ok_or_else(|| not_out(token))?;
    if bytes > leaving.bytes() as u64 {
        return Err(format!("{bytes} bytes of device buffer {token:#x}, which offers {}", leaving.bytes()));
    }
    if let Some(release) = &leaving.release {
        release.take(bytes);
    }
    if maps {
        show(node, to, (leaving, sender));
    } else {
        let LeavingDevice { buffer, layout, release } = leaving;
        let to = Sink::Peer { peer: to.0, transfer: to.1, sender };
        Outflow::begin(node, (lend(node, buffer, release), layout), bytes, to);
    }
    Ok(())
}

/// Tells who asked where a buffer is, when the streams before it are past it.
fn show(node: &Arc<Node>, (peer, transfer): (NodeId, Token), (leaving, sender): (LeavingDevice, Sender)) {
    let LeavingDevice { buffer, layout, .. } = leaving;
    let fail = move |node: &Node, failure: Failure| {
        failure.end(node, format!("showing a device buffer of {sender} to {peer}"));
    };
    let held = node.devices.held(buffer.device()).expect("what is sent is of a device of the node");
    let ends = &held.streams.ends;
    if let Err(cause) = buffer.before(ends) {
        return fail(node, cause.into());
    }
    continue_later(node, ends, move |node, passed| {
        let named = passed.and_then(|()| node.devices.sharing.name(&buffer, layout.as_ref()));
        // Before anybody can say that the buffer is free: its owner may want to be the only one who has it.
        drop(buffer);
        let said = named.map_err(Failure::Device).and_then(|named| {
            let given = GivenMemory::Mapped(named);
            send(node, peer, DeviceFrame::Given { transfer, given }).map_err(Failure::Words)
        });
        if let Err(failure) = said {
            fail(node, failure);
        }
    });
}
