//! Direct ways: the network reads registered memory of one node's device into registered memory of another's, and nothing goes through the
//! host.
//!
//! 1. The receiver asks for it where the network and its own device can; the owner answers by chunks where its own device cannot.
//! 2. The owner registers what the streams before are past. What a layout selects is packed on the device first; what is to be laid out is
//!    read into memory of its own, and unpacked by a step.
//! 3. The buffer stays registered until the receiver says that it is done, or asks for it in chunks: when the network has refused.
//! 4. Where a device was measured, its node has the choice: what would come sooner in chunks, packed into memory of the host, comes so.
//! 5. Between two nodes that were refused once, nothing is asked for in this way any more.

#![expect(unsafe_code, reason = "hands memory of devices to the network")]

use super::legs;
use super::room::Room;
use super::saying::send;
use crate::model::nocopy::{Arrived, DeviceFrame, GivenMemory, LeavingDevice, Lender};
use crate::node::Node;
use crate::transfer::copy::planned::planned_to_pack;
use crate::transfer::device::continuing::continue_later;
use crate::transfer::device::within;
use crate::transfer::lend::deregistration;
use crate::transfer::take::gathering::{Failure, Finish, Plan};
use chare_device::{Device, DeviceBuffer, DeviceBufferMut, DeviceError, Facts, Registrable, Way};
use chare_lrts::{
    Completion, DeviceMemory, Held, Memory, MemoryMut, NodeId, RegionKey, Token, TransferError, clock,
};
use std::sync::Arc;

/// Whether memory of a device of this node may go to a peer, or come from it, by the network alone.
pub(super) fn serves(node: &Node, peer: NodeId, device: &Device) -> bool {
    device.info().is_registrable
        && node.network.reaches_devices(peer)
        && !node.devices.direct.is_refused(peer)
}

/// Whether the network brings a peer so many bytes of what is meant of a buffer no later than chunks, by what its device was measured to take.
pub(super) fn is_quicker(node: &Node, peer: NodeId, leaving: &LeavingDevice, bytes: usize) -> bool {
    let held = node.devices.held(leaving.buffer.device()).expect("what is sent is of a device of the node");
    if !held.model().is_measured() {
        return true;
    }
    let facts = match &leaving.layout {
        None => Facts::whole(bytes as u64),
        // All of it is packed first. What does not fit is said then.
        Some(layout) => planned_to_pack(layout).map_or(Facts::whole(0), |plan| Facts::of(&plan)),
    };
    let beside = legs::between(node, peer);
    held.model().goes_directly(facts, Way::Out, legs::direct(node, peer), &[beside])
}

/// Tells who asked where the network finds a buffer, when the streams before it are past it; runs `instead` where it cannot be registered, with
/// the cause.
pub(super) fn show(
    node: &Arc<Node>,
    (peer, transfer): (NodeId, Token),
    (token, leaving): (Token, LeavingDevice),
    instead: impl FnOnce(&Arc<Node>, String) + Send + 'static,
) {
    let LeavingDevice { buffer, layout, .. } = leaving;
    let shown = match layout {
        None => Ok(buffer),
        Some(layout) => within::pack(node, (buffer, &layout), None),
    };
    let shown = shown.and_then(|shown| {
        let held = node.devices.held(shown.device()).expect("what is sent is of a device of the node");
        shown.before(&held.streams.ends)?;
        Ok((shown, &held.streams.ends))
    });
    // What is wrong with the buffer or its device, and not with this way, is found on the other one, too.
    let (shown, ends) = match shown {
        Ok(shown) => shown,
        Err(cause) => return instead(node, cause.into_words()),
    };
    continue_later(node, ends, move |node, passed| {
        let registered =
            passed.and_then(|()| readable(shown)).map_err(|cause| cause.to_string()).and_then(|memory| {
                let registered = node.network.regions().register(Held::Source(memory));
                registered.map_err(|_| "no more memory can be registered".to_owned())
            });
        let key = match registered {
            Ok(key) => key,
            Err(cause) => return instead(node, cause),
        };
        if let Some(older) = node.devices.direct.keep(token, key) {
            deregistration::close(node, &older, |_, held| drop(held));
        }
        let given = GivenMemory::Registered(key);
        if let Err(cause) = send(node, peer, DeviceFrame::Given { transfer, given }) {
            Failure::Words(cause).end(node, format!("showing a device buffer to {peer}"));
        }
    });
}

/// Ends the registration of a buffer, if it has one, then drops what is left of it.
pub(super) fn end(node: &Node, token: Token, rest: impl Send + 'static) {
    match node.devices.direct.take(token) {
        Some(key) => deregistration::close(node, &key, move |_, held| drop((held, rest))),
        None => drop(rest),
    }
}

/// Reads what the owner has registered to where it is to be; `finish` takes it. `instead` has both where the network does not.
pub(super) fn read(
    node: &Arc<Node>,
    (owner, key): (Lender, RegionKey),
    (mut room, finish): (Room, Finish<Arrived>),
    instead: impl FnOnce(&Arc<Node>, Room, Finish<Arrived>) + Send + 'static,
) {
    let device = room.device().expect("it was asked for a room on a device").clone();
    let held = node.devices.held(&device).expect("rooms are on devices of the node");
    let bytes = room.bytes();
    let taken = room.take_target().and_then(|target| match target.before(&held.streams.ends) {
        Ok(()) => Ok(target),
        Err(cause) => {
            room.put_target(target);
            Err(cause)
        }
    });
    let Ok(target) = taken else {
        return instead(node, room, finish);
    };
    continue_later(node, &held.streams.ends, move |node, passed| {
        if let Err(cause) = passed {
            return finish(node, Err(cause.into()));
        }
        let Ok(registrable) = target.registrable() else {
            room.put_target(target);
            return instead(node, room, finish);
        };
        let into = writable(target, registrable);
        let (then_node, began) = (Arc::clone(node), clock::now());
        let then = move |completion: Completion| {
            if completion.result.is_ok() {
                legs::note_direct(&then_node, owner.node, bytes as u64, clock::since(began));
            }
            read_is_over(&then_node, owner, completion, (room, finish), instead);
        };
        node.get((key, 0), (into, bytes), Box::new(then));
    });
}

fn read_is_over(
    node: &Arc<Node>,
    owner: Lender,
    completion: Completion,
    (mut room, finish): (Room, Finish<Arrived>),
    instead: impl FnOnce(&Arc<Node>, Room, Finish<Arrived>),
) {
    let Completion { result, memory, .. } = completion;
    let target = memory.map(|memory| match memory.into_owner().downcast::<DeviceBufferMut<u8>>() {
        Ok(target) => *target,
        Err(_) => unreachable!("it was a device buffer"),
    });
    match (result, target) {
        (Ok(_), Some(target)) => {
            if let Err(cause) = send(node, owner.node, DeviceFrame::Done { token: owner.token }) {
                return finish(node, Err(Failure::Words(cause)));
            }
            let held = node.devices.held(target.device()).expect("rooms are on devices of the node");
            held.ways.direct.add_shared(1);
            arrive(node, target, room, finish);
        }
        (Err(cause @ (TransferError::Refused { .. } | TransferError::DeviceMemory(_))), Some(target)) => {
            if node.devices.direct.refuse(owner.node) {
                let from_here = "device memory goes by way of the host's between the two from here on";
                node.network.warn(format!("{cause}; {from_here}, which is slower"));
            }
            room.put_target(target);
            instead(node, room, finish);
        }
        (Err(cause), _) => finish(node, Err(Failure::Transfer(cause))),
        (Ok(_), None) => unreachable!("a get hands its memory back"),
    }
}

/// Makes the argument of what the network has written.
fn arrive(node: &Arc<Node>, target: DeviceBufferMut<u8>, mut room: Room, finish: Finish<Arrived>) {
    if !room.has_layout() {
        room.put_target(target);
        return finish(node, room.into_arrived().map_err(Failure::Device));
    }
    let leaving = LeavingDevice { buffer: target.freeze(), layout: None, release: None };
    let Ok(Some(given)) = room.into_given() else { unreachable!("a layout is of what was posted") };
    match within::fill(node, leaving, given) {
        Ok(Plan::Begin(begin)) => begin(node, finish),
        Ok(Plan::Ready(_) | Plan::Fetch(_)) => unreachable!("a step has to be begun"),
        Err(failure) => finish(node, Err(failure)),
    }
}

/// A buffer as memory that the network reads.
fn readable(buffer: DeviceBuffer<u8>) -> Result<Memory, DeviceError> {
    let (address, device) = found(buffer.registrable()?);
    // SAFETY: the buffer says where its bytes are, and keeps them. Whoever shares it only reads it, and who wrote it is past that.
    Ok(unsafe { MemoryMut::of_device(address, buffer.len(), device, Box::new(buffer)) }.freeze())
}

/// A buffer as memory that the network writes.
fn writable(buffer: DeviceBufferMut<u8>, registrable: Registrable) -> MemoryMut {
    let (address, device) = found(registrable);
    // SAFETY: the buffer says where its bytes are, and keeps them. It has one owner, from here on the memory, and all that streams did with
    // it is over.
    unsafe { MemoryMut::of_device(address, buffer.len(), device, Box::new(buffer)) }
}

fn found(registrable: Registrable) -> (*mut u8, DeviceMemory) {
    let device = match registrable.dma_buf {
        None => DeviceMemory::Pages,
        Some(dma_buf) => DeviceMemory::DmaBuf { descriptor: dma_buf.descriptor, offset: dma_buf.offset },
    };
    (std::ptr::with_exposed_provenance_mut(registrable.address as usize), device)
}
