//! Answers of a device buffer's owner: gives who asks the buffer in chunks, or shows where it is.

use super::direct;
use super::outflow::{Outflow, Sink};
use super::saying::{send, send_refusal};
use crate::model::nocopy::{DeviceFrame, DeviceWay, GivenMemory, LeavingDevice};
use crate::node::Node;
use crate::node::devices::Lent;
use crate::node::devices::sharing::Detour;
use crate::transfer::device::continuing::{continue_later, lend};
use crate::transfer::take::gathering::Failure;
use crate::transfer::ways;
use chare_lrts::{NodeId, Token};
use std::sync::Arc;

/// Takes a part of what was asked for.
///
/// # Errors
/// What does not fit, in words.
pub(in crate::transfer::device) fn given(
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
pub(in crate::transfer::device) fn done(node: &Arc<Node>, token: Token) -> Result<(), String> {
    node.devices.sharing.end_loan(token);
    let leaving = node.devices.lent.take_back(token);
    direct::end(node, token, leaving.ok_or_else(|| not_out(token))?);
    Ok(())
}

fn not_out(token: Token) -> String {
    format!("device buffer {token:#x}, which is not out")
}

/// Gives who asked the first `bytes` of a buffer, when the streams before it are past it.
///
/// # Errors
/// What does not fit, in words.
pub(in crate::transfer::device) fn asked(
    node: &Arc<Node>,
    to: (NodeId, Token),
    token: Token,
    bytes: u64,
    way: DeviceWay,
) -> Result<(), String> {
    // It was refused, if it is asked for once more.
    direct::end(node, token, ());
    node.devices.sharing.refuse_loan(to.0, token);
    let lent = node.devices.lent.look(token, Clone::clone).ok_or_else(|| not_out(token))?;
    let offered = lent.leaving.bytes();
    let wanted = usize::try_from(bytes).ok().filter(|wanted| *wanted <= offered);
    let wanted =
        wanted.ok_or_else(|| format!("{bytes} bytes of device buffer {token:#x}, which offers {offered}"))?;
    let way = way_of(node, to.0, &lent.leaving, wanted, way);
    if way == DeviceWay::Chunks {
        node.devices.lent.take_back(token).ok_or_else(|| not_out(token))?;
    }
    let Lent { leaving, sender, is_registered } = lent;
    if let Some(release) = &leaving.release {
        release.take(bytes);
    }
    let is_adopted = leaving.buffer.arena().is_adopted();
    match way {
        DeviceWay::Mapped => show(node, to, (token, bytes), Lent { leaving, sender, is_registered }),
        DeviceWay::Direct => direct::show(node, to, (token, leaving), move |node, cause| {
            if is_adopted {
                tell_of_adopted(node, bytes, &sender, &Detour::Unregistered(cause));
            }
            if let Err(cause) = asked(node, to, token, bytes, DeviceWay::Chunks) {
                Failure::Words(cause).end(node, format!("sending a device buffer of {sender} to {}", to.0));
            }
        }),
        DeviceWay::Chunks => {
            let LeavingDevice { buffer, layout, release } = leaving;
            let to = Sink::Peer { peer: to.0, transfer: to.1, sender, is_registered };
            Outflow::begin(node, (lend(node, buffer, release), layout), bytes, to);
        }
    }
    Ok(())
}

/// Tells, once for each cause, that adopted memory goes a longer way than other memory would.
pub(super) fn tell_of_adopted(node: &Node, bytes: u64, sender: &str, cause: &Detour) {
    if let Some(warning) = node.devices.sharing.tell_of_adopted(bytes, sender, cause) {
        node.network.warn(warning);
    }
}

/// The way that so many bytes of a buffer go which a peer wants in this one.
fn way_of(node: &Node, peer: NodeId, leaving: &LeavingDevice, bytes: usize, wanted: DeviceWay) -> DeviceWay {
    let is_possible = match wanted {
        DeviceWay::Chunks => true,
        DeviceWay::Mapped => ways::is_worth_mapping(bytes, leaving.buffer.arena().is_adopted()),
        DeviceWay::Direct => {
            direct::serves(node, peer, leaving.buffer.device())
                && direct::is_quicker(node, peer, leaving, bytes)
        }
    };
    if is_possible { wanted } else { DeviceWay::Chunks }
}

/// Tells who asked where a buffer is, when the streams before it are past it; or sends it, if its memory cannot be named.
fn show(node: &Arc<Node>, to: (NodeId, Token), (token, bytes): (Token, u64), lent: Lent) {
    let Lent { leaving: LeavingDevice { buffer, layout, .. }, sender, is_registered } = lent;
    let held = node.devices.held(buffer.device()).expect("what is sent is of a device of the node");
    let ends = &held.streams.ends;
    let shown_by = Arc::clone(&sender);
    let fail = move |node: &Node, failure: Failure| {
        node.devices.sharing.end_loan(token);
        if is_registered {
            drop(node.devices.lent.take_back(token));
            send_refusal(node, to, failure);
        } else {
            failure.end(node, format!("showing a device buffer of {shown_by} to {}", to.0));
        }
    };
    if let Err(cause) = buffer.before(ends) {
        return fail(node, cause.into());
    }
    continue_later(node, ends, move |node, passed| {
        if let Err(cause) = passed {
            return fail(node, cause.into());
        }
        let sharing = &node.devices.sharing;
        let named = sharing.name(&buffer, layout.as_ref(), &sender).map_err(Detour::Unnamed);
        let shown = named.and_then(|(named, handle)| {
            handle.map_or(Ok(()), |handle| sharing.keep(to.0, token, handle)).map(|()| named)
        });
        let is_adopted = buffer.arena().is_adopted();
        // Before anybody can say that the buffer is free: its owner may want to be the only one who has it.
        drop((buffer, layout));
        let said = match shown {
            Ok(named) => {
                let given = GivenMemory::Mapped(named);
                send(node, to.0, DeviceFrame::Given { transfer: to.1, given })
            }
            Err(Detour::Unnamed(cause)) if cause.is_lost() => return fail(node, cause.into()),
            Err(cause) => {
                if is_adopted {
                    tell_of_adopted(node, bytes, &sender, &cause);
                }
                asked(node, to, token, bytes, DeviceWay::Chunks)
            }
        };
        if let Err(cause) = said {
            fail(node, Failure::Words(cause));
        }
    });
}
