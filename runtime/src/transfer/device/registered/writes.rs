//! Writes of registered device memory, at the writer and at the memory's owner.

use super::landing::{Unfilled, land, refuse_here};
use crate::model::arguments::Arguments;
use crate::model::nocopy::{
    Descriptor, DeviceDescriptor, DeviceFrame, DeviceRefusal, DeviceTransferError, Local, OutgoingDevice,
    PostedDevice, RemoteDevice, ToldLayout,
};
use crate::node::Node;
use crate::node::devices::{Answer, DeviceTarget, Lent};
use crate::transfer::copy::laid_out::in_words;
use crate::transfer::device::across::{offer, send, send_done, sender};
use crate::transfer::device::ends::Origin;
use crate::transfer::device::planning::take_in_charge;
use chare_device::DeviceBufferMut;
use chare_lrts::{NodeId, Token};
use std::sync::Arc;

/// Writes a buffer to what a handle names; `then` hears whether it is there. After that the sender is told by the buffer's release.
pub(crate) fn put(
    node: &Arc<Node>,
    outgoing: OutgoingDevice,
    to: RemoteDevice,
    then: impl FnOnce(&Arc<Node>, Result<(), DeviceTransferError>) + Send + 'static,
) {
    let RemoteDevice { owner, layout, .. } = to;
    let (leaving, is_behind) = take_in_charge(node, outgoing, None);
    // Kept until it is known how it ended, for its release tells the sender.
    let kept = leaving.clone();
    let then = move |node: &Arc<Node>, written| {
        then(node, written);
        drop(kept);
    };
    if let Err(cause) = is_behind {
        return then(node, Err(cause.into()));
    }
    if owner.node == node.id {
        let (bytes, origin) = (leaving.bytes() as u64, Origin::Here(Local::Device(leaving)));
        return write(node, (owner.token, bytes), layout, (node.id, origin), then);
    }
    let offered = offer(node, Lent { leaving, sender: sender(), is_registered: true });
    let transfer = node.devices.begun.give_out(Box::new(move |node, source, answer| {
        let written = match answer {
            _ if source != owner.node => {
                return Err(format!("{source} answers what {} was asked", owner.node));
            }
            Answer::Written => Ok(()),
            Answer::Refused(refusal) => Err(refusal.of(source)),
            Answer::Offered(_) => return Err(format!("{source} offers what it was to take")),
        };
        then(node, written);
        Ok(())
    }));
    let said = DeviceFrame::Put { target: owner.token, layout, offered, transfer };
    if let Err(cause) = send(node, owner.node, said) {
        drop(node.devices.lent.take_back(offered.owner.token));
        refuse_here(node, owner.node, transfer, cause);
    }
}

/// Fetches what a node writes to registered memory of this one, and tells it when it is there, or why it is not.
///
/// # Errors
/// A buffer of another node, in words.
pub(in crate::transfer::device) fn on_put(
    node: &Arc<Node>,
    (peer, transfer): (NodeId, Token),
    target: Token,
    layout: Option<ToldLayout>,
    offered: DeviceDescriptor,
) -> Result<(), String> {
    if offered.owner.node != peer {
        return Err(format!("{peer} puts a device buffer of {}", offered.owner.node));
    }
    let origin = Origin::There(Descriptor::Device(offered));
    write(node, (target, offered.bytes), layout, (peer, origin), move |node, written| {
        let said = match written {
            Ok(()) => DeviceFrame::Written { transfer },
            Err(cause) => DeviceFrame::Refused { transfer, cause: cause.told_by(node.id) },
        };
        send(node, peer, said).unwrap_or_else(|cause| unreachable!("a few words fit a message: {cause}"));
    });
    Ok(())
}

/// Brings a buffer of a node into registered memory of this one, after those that came before; then tells who wants to know, and runs
/// `then`.
fn write(
    node: &Arc<Node>,
    (token, bytes): (Token, u64),
    layout: Option<ToldLayout>,
    (from, origin): (NodeId, Origin),
    then: impl FnOnce(&Arc<Node>, Result<(), DeviceTransferError>) + Send + 'static,
) {
    let layout = layout.map(|ToldLayout(layout)| layout);
    let found = node.devices.targets.look(token, Arc::clone).ok_or(DeviceRefusal::Stale);
    let checked = found.and_then(|target| {
        if let Some(layout) = &layout {
            let checked = layout.check_bounds(target.bytes).and_then(|()| layout.check_target());
            checked.map_err(|error| DeviceRefusal::Misfit(in_words(error)))?;
        }
        if layout.as_ref().map_or(bytes <= target.bytes, |layout| layout.bytes() == bytes) {
            return Ok(target);
        }
        let cause =
            format!("{bytes} bytes for a part of {} registered ones, which is not as long", target.bytes);
        Err(DeviceRefusal::Misfit(cause))
    });
    let target = match checked {
        Ok(target) => target,
        Err(refusal) => {
            decline(node, &origin);
            return then(node, Err(refusal.of(node.id)));
        }
    };
    node.outside.sent.add_shared(1);
    target.use_next(
        node,
        Box::new(move |node, target, buffer| {
            let Some(buffer) = buffer else {
                decline(node, &origin);
                then(node, Err(gone().of(node.id)));
                return node.outside.processed.add_shared(1);
            };
            let target = Arc::clone(target);
            let given = PostedDevice { buffer, bytes: bytes as usize, layout, before: None };
            land(node, origin, from, given, move |node, landed| {
                let written = match landed {
                    Ok(buffer) => {
                        give_back(node, &target, buffer);
                        if let Some(notify) = *target.notify.lock() {
                            node.fire(notify, Arguments::new(bytes));
                        }
                        Ok(())
                    }
                    Err(Unfilled { cause, buffer: Some(buffer) }) => {
                        give_back(node, &target, buffer);
                        Err(cause)
                    }
                    Err(Unfilled { cause, buffer: None }) => {
                        lose(node, &target);
                        Err(cause)
                    }
                };
                then(node, written);
                node.outside.processed.add_shared(1);
            });
        }),
    );
}

/// Why registered memory whose buffer is gone takes nothing.
pub(crate) fn gone() -> DeviceRefusal {
    DeviceRefusal::Failed("its device did not take a command that had the registered memory".to_owned())
}

/// Tells the owner of an offer that nobody asks for it.
fn decline(node: &Node, origin: &Origin) {
    if let Origin::There(Descriptor::Device(offered)) = origin {
        send_done(node, offered.owner);
    }
}

/// Gives a target its buffer back, for the write that waits for it.
pub(crate) fn give_back(node: &Node, target: &Arc<DeviceTarget<Node>>, buffer: DeviceBufferMut<u8>) {
    if let Some((next, buffer)) = target.give_back(buffer) {
        let target = Arc::clone(target);
        // Later, so that a long row of writes is no deep recursion; each is counted as a message on its way already.
        node.later(Box::new(move |node| next(node, &target, Some(buffer))));
    }
}

/// Tells all who wait for a target that its buffer does not come back.
fn lose(node: &Node, target: &Arc<DeviceTarget<Node>>) {
    for next in target.lose() {
        let target = Arc::clone(target);
        node.later(Box::new(move |node| next(node, &target, None)));
    }
}
