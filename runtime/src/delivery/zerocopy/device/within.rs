//! Ways within one device of one process: the buffer itself goes, or one step copies from layout to layout.

use super::continuing::continue_later;
use super::ending::lend;
use crate::delivery::zerocopy::gathering::{Failure, Plan};
use crate::delivery::zerocopy::laid_out::in_words;
use crate::delivery::zerocopy::planned::{planned, planned_to_pack};
use crate::model::nocopy::{Arrived, DeviceFilled, LeavingDevice, PostedDevice, Release};
use crate::node::Node;
use crate::node::devices::Held;
use chare_device::{Device, DeviceBuffer, DeviceBufferMut};
use chare_layout::Raw;
use std::sync::Arc;

/// Hands the buffer over; if a layout selects a part, packed by a step on the node's stream, which whoever reads it waits for.
pub(super) fn receive(node: &Arc<Node>, leaving: LeavingDevice) -> Result<Plan<Arrived>, Failure> {
    let LeavingDevice { buffer, layout, release } = leaving;
    if let Some(layout) = layout {
        return Ok(Plan::Ready(Arrived::Device(pack(node, (buffer, &layout), release)?)));
    }
    held(node, buffer.device()).ways.handed.add_shared(1);
    Ok(Plan::Ready(Arrived::Device(lend(node, buffer, release))))
}

/// What a layout selects of a buffer, in memory of its own, by a step on the node's stream. The release goes when the step is over.
pub(super) fn pack(
    node: &Arc<Node>,
    (buffer, layout): (DeviceBuffer<u8>, &Arc<Raw>),
    release: Option<Arc<Release>>,
) -> Result<DeviceBuffer<u8>, Failure> {
    let held = held(node, buffer.device());
    let plan = planned_to_pack(layout).map_err(in_words)?;
    let mut packed = DeviceBufferMut::<u8>::new(&held.device, layout.bytes() as usize)?;
    packed.step_from(&held.steps, &plan, &lend(node, buffer, release))?;
    held.ways.stepped.add_shared(1);
    Ok(packed.freeze())
}

/// Copies what is meant to where the landing says. The argument has come when the step is over; or at once, if a stream of the user waits
/// for the step.
pub(super) fn fill(
    node: &Arc<Node>,
    leaving: LeavingDevice,
    given: PostedDevice,
) -> Result<Plan<Arrived>, Failure> {
    let LeavingDevice { buffer, layout: from, release } = leaving;
    let PostedDevice { buffer: mut target, bytes, layout: to, before } = given;
    if let Some(release) = &release {
        release.take(bytes as u64);
    }
    let held = held(node, target.device());
    let whole = |len: usize| Raw::bytes_of(len as u64).map(Arc::new).map_err(in_words);
    let from = from.map_or_else(|| whole(buffer.len()), Ok)?;
    let plan = planned(&from, &to.clone().map_or_else(|| whole(bytes), Ok)?).map_err(in_words)?;
    target.step_from(&held.steps, &plan, &lend(node, buffer, release))?;
    held.ways.stepped.add_shared(1);
    let filled = DeviceFilled { buffer: target, layout: to, len: bytes, landed: None };
    if let Some(before) = before {
        let landed = held.steps.record()?;
        before.wait(&landed)?;
        let filled = DeviceFilled { landed: Some(landed), ..filled };
        return Ok(Plan::Ready(Arrived::DevicePosted(filled.into())));
    }
    let steps = held.steps.clone();
    Ok(Plan::Begin(Box::new(move |node, finish| {
        continue_later(node, &steps, move |node, passed| {
            let arrived = passed.map(|()| Arrived::DevicePosted(filled.into()));
            finish(node, arrived.map_err(Failure::Device));
        });
    })))
}

/// A device of this node.
fn held<'a>(node: &'a Node, device: &Device) -> &'a Held<Node> {
    node.devices.held(device).expect("what is sent is of a device of the node")
}
