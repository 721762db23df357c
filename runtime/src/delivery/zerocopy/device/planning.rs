//! Planning of a device argument's way: within its device, or across.

use super::ends::{End, Origin, check_device};
use super::{across, within};
use crate::delivery::zerocopy::gathering::{Failure, Plan};
use crate::delivery::zerocopy::send::release;
use crate::model::nocopy::{
    Arrived, Descriptor, DeviceDescriptor, Given, LeavingDevice, Local, OutgoingDevice,
};
use crate::node::Node;
use crate::node::devices::is_same;
use std::sync::Arc;

/// Takes charge of the device buffer that the caller gave.
///
/// # Panics
/// If it is of a device that the job does not know.
pub(crate) fn take_charge(node: &Arc<Node>, outgoing: OutgoingDevice) -> LeavingDevice {
    let OutgoingDevice { buffer, layout, after, hand_back } = outgoing;
    check_device(node, buffer.device());
    if let Some(stream) = after
        && let Err(cause) = buffer.written(&stream)
    {
        let what = "sending a device buffer behind a stream".to_owned();
        Failure::Device(cause).end(node, what);
    }
    let leaving = LeavingDevice { buffer, layout, release: None };
    let offered = leaving.bytes() as u64;
    let release = hand_back.map(|hand_back| release(node, offered, None, Some(hand_back)));
    LeavingDevice { release, ..leaving }
}

/// Plans the way of an argument of which one end lies on a device, or both do.
///
/// # Errors
/// What does not fit, and what a device says.
pub(in crate::delivery::zerocopy) fn plan(
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

/// The argument itself, where its call came back from where its chare was thought to be.
fn brought_back(node: &Node, origin: Origin) -> Result<Origin, String> {
    match origin {
        Origin::There(Descriptor::Device(DeviceDescriptor { owner, .. })) if owner.node == node.id => {
            let leaving = node.devices.lent.take_back(owner.token).map(|(leaving, _)| leaving);
            let leaving = leaving.ok_or_else(|| format!("device buffer {:#x} is not out", owner.token))?;
            Ok(Origin::Here(Local::Device(leaving)))
        }
        origin => Ok(origin),
    }
}
