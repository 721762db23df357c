//! Transfers of registered device memory: reads and writes of a peer's, and what the owner does for them.
//!
//! ```text
//! get:  reader --Get--> owner --Offered--> reader     then as a posted argument comes from the owner
//! put:  writer --Put--> owner                         then as a posted argument comes from the writer; --Done--> writer
//! ```
//! 1. Each transfer is that of a posted device argument, so every way of those serves it.
//! 2. Writes of one target follow one another. The writer is told when its elements are there, or the streams that bring them are past
//!    that.
//! 3. A handle is an allegation: its token, its length and its layout are checked by the memory's owner. One that is stale ends the job.

use super::across::{offer, send, sender};
use super::ends::{End, Origin};
use super::planning::plan;
use crate::delivery::zerocopy::gathering::{Failure, Gathering};
use crate::delivery::zerocopy::laid_out::in_words;
use crate::model::arguments::Arguments;
use crate::model::nocopy::{
    Arrived, Descriptor, DeviceDescriptor, DeviceFrame, Few, Given, LeavingDevice, Local, NocopyKind,
    PostedDevice, Release, RemoteDevice, ToldLayout,
};
use crate::node::Node;
use crate::node::devices::DeviceTarget;
use chare_device::DeviceBufferMut;
use chare_lrts::{NodeId, Token};
use std::sync::Arc;

/// Reads what a handle names into memory of a device here; `then` takes the buffer. `what` names the transfer if it fails.
pub(crate) fn get(
    node: &Arc<Node>,
    from: RemoteDevice,
    into: PostedDevice,
    what: String,
    then: impl FnOnce(&Arc<Node>, DeviceBufferMut<u8>) + Send + 'static,
) {
    let (owner, bytes) = (from.owner, into.bytes as u64);
    node.outside.sent.add_shared(1);
    let then = move |node: &Arc<Node>, buffer| {
        then(node, buffer);
        node.outside.processed.add_shared(1);
    };
    if owner.node == node.id {
        return match registered_source(node, owner.token, bytes, from.layout) {
            Ok(leaving) => land(node, Origin::Here(Local::Device(leaving)), into, what, then),
            Err(cause) => Failure::Words(cause).end(node, what),
        };
    }
    let failed = what.clone();
    let transfer = node.devices.gets.give_out(Box::new(move |node, source, offered| {
        if (source, offered.owner.node, offered.bytes) != (owner.node, owner.node, bytes) {
            return Err(format!("{source} offers {} bytes instead of {bytes}", offered.bytes));
        }
        land(node, Origin::There(Descriptor::Device(offered)), into, what, then);
        Ok(())
    }));
    let said = DeviceFrame::Get { source: owner.token, bytes, layout: from.layout, transfer };
    if let Err(cause) = send(node, owner.node, said) {
        Failure::Words(cause).end(node, failed);
    }
}

/// Offers a node registered memory that it wants to read.
pub(super) fn on_get(
    node: &Arc<Node>,
    (peer, transfer): (NodeId, Token),
    source: Token,
    bytes: u64,
    layout: Option<ToldLayout>,
) -> Result<(), String> {
    let leaving = registered_source(node, source, bytes, layout)?;
    let offered = offer(node, leaving, "whoever registered it".into());
    send(node, peer, DeviceFrame::Offered { transfer, offered })
}

/// Asks for registered memory that was offered.
pub(super) fn on_offer(
    node: &Arc<Node>,
    source: NodeId,
    transfer: Token,
    offered: DeviceDescriptor,
) -> Result<(), String> {
    let take = node.devices.gets.take_back(transfer);
    let take = take.ok_or_else(|| format!("registered memory for {transfer:#x}, which wants none"))?;
    take(node, source, offered)
}

/// What is wanted of registered memory of this node; its release tells who wants to know.
///
/// # Errors
/// What does not fit, in words.
fn registered_source(
    node: &Arc<Node>,
    token: Token,
    bytes: u64,
    layout: Option<ToldLayout>,
) -> Result<LeavingDevice, String> {
    let source = node.devices.sources.look(token, Arc::clone).ok_or_else(|| stale(token))?;
    let layout = layout.map(|ToldLayout(layout)| layout);
    if let Some(layout) = &layout {
        layout.check_bounds(source.buffer.len() as u64).map_err(in_words)?;
    }
    let leaving = LeavingDevice { buffer: source.buffer.clone(), layout, release: None };
    if leaving.bytes() as u64 != bytes {
        return Err(format!("{bytes} bytes of a device buffer, of which {} are meant", leaving.bytes()));
    }
    let release = source.notify.lock().map(|notify| {
        let weak = Arc::downgrade(node);
        Release::new(bytes, true, move |bytes| {
            if let Some(node) = weak.upgrade() {
                node.fire(notify, Arguments::new(bytes));
            }
        })
    });
    Ok(LeavingDevice { release, ..leaving })
}

/// Writes a buffer to what a handle names. The sender is told by the buffer's release, when it is there.
pub(crate) fn put(node: &Arc<Node>, leaving: LeavingDevice, to: RemoteDevice, what: String) {
    let RemoteDevice { owner, layout, .. } = to;
    let said = if owner.node == node.id {
        let (bytes, kept) = (leaving.bytes() as u64, leaving.release.clone());
        let origin = Origin::Here(Local::Device(leaving));
        write(node, (owner.token, bytes), layout, origin, what.clone(), move |_| drop(kept))
    } else {
        let sender = sender();
        let written = node.devices.lent.give_out((leaving.clone(), Arc::clone(&sender)));
        let offered = offer(node, leaving, sender);
        send(node, owner.node, DeviceFrame::Put { target: owner.token, layout, offered, written })
    };
    if let Err(cause) = said {
        Failure::Words(cause).end(node, what);
    }
}

/// Fetches what a node writes to registered memory of this one, and tells it when it is there.
pub(super) fn on_put(
    node: &Arc<Node>,
    (peer, written): (NodeId, Token),
    target: Token,
    layout: Option<ToldLayout>,
    offered: DeviceDescriptor,
) -> Result<(), String> {
    if offered.owner.node != peer {
        return Err(format!("{peer} puts a device buffer of {}", offered.owner.node));
    }
    let (what, origin) = (format!("rput_device from {peer}"), Origin::There(Descriptor::Device(offered)));
    write(node, (target, offered.bytes), layout, origin, what.clone(), move |node| {
        if let Err(cause) = send(node, peer, DeviceFrame::Done { token: written }) {
            Failure::Words(cause).end(node, what);
        }
    })
}

/// Brings a buffer into registered memory of this node, after those that came before; then tells who wants to know, and runs `then`.
///
/// # Errors
/// What does not fit, in words.
fn write(
    node: &Arc<Node>,
    (token, bytes): (Token, u64),
    layout: Option<ToldLayout>,
    origin: Origin,
    what: String,
    then: impl FnOnce(&Arc<Node>) + Send + 'static,
) -> Result<(), String> {
    let target = node.devices.targets.look(token, Arc::clone).ok_or_else(|| stale(token))?;
    let layout = layout.map(|ToldLayout(layout)| layout);
    if let Some(layout) = &layout {
        layout.check_bounds(target.bytes).and_then(|()| layout.check_target()).map_err(in_words)?;
    }
    let fits = layout.as_ref().map_or(bytes <= target.bytes, |layout| layout.bytes() == bytes);
    if !fits {
        return Err(format!(
            "{bytes} bytes for a part of {} registered ones, which is not as long",
            target.bytes
        ));
    }
    node.outside.sent.add_shared(1);
    target.use_next(
        node,
        Box::new(move |node, target, buffer| {
            let target = Arc::clone(target);
            let given = PostedDevice { buffer, bytes: bytes as usize, layout, before: None };
            land(node, origin, given, what, move |node, buffer| {
                give_back(node, &target, buffer);
                if let Some(notify) = *target.notify.lock() {
                    node.fire(notify, Arguments::new(bytes));
                }
                then(node);
                node.outside.processed.add_shared(1);
            });
        }),
    );
    Ok(())
}

/// Gives a target its buffer back, for the write that waits for it.
pub(crate) fn give_back(node: &Node, target: &Arc<DeviceTarget<Node>>, buffer: DeviceBufferMut<u8>) {
    if let Some((next, buffer)) = target.give_back(buffer) {
        let target = Arc::clone(target);
        // Later, so that a long row of writes is no deep recursion; each is counted as a message on its way already.
        node.later(Box::new(move |node| next(node, &target, buffer)));
    }
}

/// Brings a buffer into memory that was given, as a posted argument comes.
fn land(
    node: &Arc<Node>,
    origin: Origin,
    given: PostedDevice,
    what: String,
    then: impl FnOnce(&Arc<Node>, DeviceBufferMut<u8>) + Send + 'static,
) {
    let end = End { pe: node.topology.pe(node.id, 0), kind: NocopyKind::DevicePosted };
    let planned = plan(node, end, origin, Some(Given::Device(given)));
    let gathering = match Gathering::plan(std::iter::once(planned)) {
        Ok(gathering) => gathering,
        Err(failure) => return failure.end(node, what),
    };
    let then = move |node: &Arc<Node>, mut arrived: Few<Arrived>| match arrived.pop() {
        Some(Arrived::DevicePosted(filled)) => then(node, filled.buffer),
        _ => unreachable!("what was given is filled"),
    };
    match gathering.complete() {
        Ok(arrived) => then(node, arrived),
        Err(gathering) => gathering.fetch(node, move || what, then),
    }
}

fn stale(token: Token) -> String {
    format!(
        "registered device memory {token:#x}, which is not registered any more: keep it until the last transfer is over"
    )
}
