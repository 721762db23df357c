//! Device arguments of many: packed or staged once by the sender's process, described to the processes below it, and brought into each once.

use super::across::{self, offer, sender};
use super::ends::{End, Origin};
use super::planning::plan;
use super::within;
use crate::model::ids::PeId;
use crate::model::nocopy::{
    Arrived, Descriptor, DeviceDescriptor, LeavingDevice, Local, NocopyKind, is_answered,
};
use crate::node::Node;
use crate::node::devices::Lent;
use crate::transfer::lend::send::answering;
use crate::transfer::take::gathering::{Failure, Plan};
use std::sync::Arc;

/// The same argument as the whole of its buffer: packed by a step on its device, if a layout selects a part.
pub(in crate::transfer) fn packed(
    node: &Arc<Node>,
    leaving: LeavingDevice,
) -> Result<LeavingDevice, Failure> {
    let LeavingDevice { buffer, layout: Some(layout), release } = leaving else { return Ok(leaving) };
    let buffer = within::pack(node, (buffer, &layout), release)?;
    Ok(LeavingDevice { buffer, layout: None, release: None })
}

/// Plans the way of an argument of this process to memory of the host.
///
/// # Errors
/// A length that there is no memory for.
pub(in crate::transfer) fn plan_staged(
    node: &Arc<Node>,
    leaving: LeavingDevice,
) -> Result<Plan<Arrived>, Failure> {
    let end = End { pe: node.topology.pe(node.id, 0), kind: NocopyKind::Received };
    across::plan(node, end, Origin::Here(Local::Device(leaving)), None)
}

/// Plans the way of an argument of another process to a device of this one: the sender's, if a PE here has it.
///
/// # Errors
/// What does not fit, and what a device says.
pub(in crate::transfer) fn plan_for_process(
    node: &Arc<Node>,
    described: DeviceDescriptor,
) -> Result<Plan<Arrived>, Failure> {
    let has_it = |pe: &PeId| {
        let held = node.rank_here(*pe).map(|rank| node.devices.of(rank));
        held.is_some_and(|held| held.is_ok_and(|held| held.device.info().uuid.0 == described.uuid))
    };
    let pe = node.pes().find(has_it).unwrap_or_else(|| node.topology.pe(node.id, 0));
    let end = End { pe, kind: NocopyKind::DeviceReceived };
    plan(node, end, Origin::There(Descriptor::Device(described)), None)
}

/// Describes an argument to another process, which takes it for many: it says how much they took, where it matters.
pub(crate) fn describe_to_many(node: &Node, kind: NocopyKind, leaving: LeavingDevice) -> Descriptor {
    let release = leaving.release.clone().filter(|release| is_answered(kind, Some(release)));
    let answered = release.map(|release| answering(node, release).token);
    let lent = Lent { leaving, sender: sender(), is_registered: false };
    Descriptor::Device(DeviceDescriptor { answered, ..offer(node, lent) })
}
