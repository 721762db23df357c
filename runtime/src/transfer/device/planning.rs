//! Planning of a device argument's way: within its device, or across.

use super::across::{send_done, sender};
use super::ends::{End, Origin, check_device};
use super::{across, within};
use crate::model::nocopy::{
    Arrived, Descriptor, DeviceDescriptor, Given, LeavingDevice, Local, OutgoingDevice,
};
use crate::node::Node;
use crate::node::devices::{Sender, is_same};
use crate::transfer::lend::send::release;
use crate::transfer::take::gathering::{Failure, Plan};
use chare_device::DeviceError;
use std::sync::Arc;

/// Takes charge of the device buffer that the caller gave for a call.
///
/// # Panics
/// If it is of a device that the job does not know.
pub(crate) fn take_charge(node: &Arc<Node>, outgoing: OutgoingDevice) -> LeavingDevice {
    let whose = outgoing.hand_back.is_some().then(sender);
    let (leaving, is_behind) = take_in_charge(node, outgoing, whose);
    if let Err(cause) = is_behind {
        Failure::Device(cause).end(node, format!("sending a device buffer behind a stream, by {}", sender()));
    }
    leaving
}

/// Takes charge of a device buffer, which `whose` waits for, if the job is to end when a device does not get past it; and says whether it
/// comes behind the stream that the caller named.
///
/// # Panics
/// If it is of a device that the job does not know.
pub(super) fn take_in_charge(
    node: &Arc<Node>,
    outgoing: OutgoingDevice,
    whose: Option<Sender>,
) -> (LeavingDevice, Result<(), DeviceError>) {
    let OutgoingDevice { buffer, layout, after, hand_back } = outgoing;
    check_device(node, buffer.device());
    let is_behind = after.map_or(Ok(()), |stream| buffer.written(&stream));
    let leaving = LeavingDevice { buffer, layout, release: None };
    let offered = leaving.bytes() as u64;
    let release = hand_back.map(|hand_back| release(node, offered, None, Some(hand_back), whose));
    (LeavingDevice { release, ..leaving }, is_behind)
}

/// Plans the way of an argument of which one end lies on a device, or both do.
///
/// # Errors
/// What does not fit, and what a device says.
pub(in crate::transfer) fn plan(
    node: &Arc<Node>,
    end: End,
    origin: Origin,
    given: Option<Given>,
) -> Result<Plan<Arrived>, Failure> {
    match (brought_back(node, origin)?, given) {
        (Origin::Here(Local::Device(leaving)), None) if end.is_on(node, leaving.buffer.device()) => {
            within::receive(node, leaving)
        }
        (Origin::Here(Local::Device(leaving)), Some(Given::Device(given)))
            if is_same(given.buffer.device(), leaving.buffer.device()) =>
        {
            within::fill(node, leaving, given)
        }
        (origin, given) => across::plan(node, end, origin, given),
    }
}

/// Gives a buffer back to its owner that nobody takes.
pub(in crate::transfer) fn decline(node: &Node, described: DeviceDescriptor) {
    match brought_back(node, Origin::There(Descriptor::Device(described))) {
        Ok(Origin::There(_)) => send_done(node, described.owner),
        Ok(Origin::Here(local)) => drop(local),
        Err(cause) => Failure::Words(cause).end(node, "giving a device buffer back".to_owned()),
    }
}

/// The argument itself, where its call came back from where its chare was thought to be.
fn brought_back(node: &Node, origin: Origin) -> Result<Origin, String> {
    match origin {
        Origin::There(Descriptor::Device(DeviceDescriptor { owner, .. })) if owner.node == node.id => {
            let leaving = node.devices.lent.take_back(owner.token).map(|lent| lent.leaving);
            let leaving = leaving.ok_or_else(|| format!("device buffer {:#x} is not out", owner.token))?;
            Ok(Origin::Here(Local::Device(leaving)))
        }
        origin => Ok(origin),
    }
}
