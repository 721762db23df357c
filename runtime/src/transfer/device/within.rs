//! Ways within one device of one process: the buffer itself goes, or one step copies from layout to layout.

use super::continuing::lend;
use super::launching::launch_soon;
use crate::model::nocopy::{Arrived, DeviceFilled, LeavingDevice, PostedDevice, Release};
use crate::node::Node;
use crate::node::devices::Held;
use crate::node::devices::lanes::Lane;
use crate::pe::device_steps::When;
use crate::transfer::copy::laid_out::in_words;
use crate::transfer::copy::planned::{planned, planned_to_pack};
use crate::transfer::take::gathering::{Failure, Plan};
use chare_device::{Device, DeviceBuffer, DeviceBufferMut, DeviceError, Done};
use chare_layout::{Plan as Copying, Raw};
use std::sync::Arc;

/// Hands the buffer over; if a layout selects a part, packed by a step, which whoever reads it waits for.
pub(super) fn receive(node: &Arc<Node>, leaving: LeavingDevice) -> Result<Plan<Arrived>, Failure> {
    let LeavingDevice { buffer, layout, release } = leaving;
    let Some(layout) = layout else {
        held(node, buffer.device()).ways.handed.add_shared(1);
        return Ok(Plan::Ready(Arrived::Device(lend(node, buffer, release))));
    };
    let plan = planned_to_pack(&layout).map_err(in_words)?;
    let packed = DeviceBufferMut::<u8>::new(buffer.device(), layout.bytes() as usize)?;
    let source = lend(node, buffer, release);
    Ok(step(plan, (source, packed), When::Launched, |_, packed| Ok(Arrived::Device(packed.freeze()))))
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
    packed.step_from(held.streams.of(Lane::Within), &plan, &lend(node, buffer, release))?;
    held.ways.stepped.add_shared(1);
    Ok(packed.freeze())
}

/// Copies what is meant to where the landing says. The argument has come when the step is over; or when it was launched, if a stream of the
/// user waits for the step.
pub(super) fn fill(
    node: &Arc<Node>,
    leaving: LeavingDevice,
    given: PostedDevice,
) -> Result<Plan<Arrived>, Failure> {
    let LeavingDevice { buffer, layout: from, release } = leaving;
    let PostedDevice { buffer: target, bytes, layout: to, before } = given;
    if let Some(release) = &release {
        release.take(bytes as u64);
    }
    let whole = |len: usize| Raw::bytes_of(len as u64).map(Arc::new).map_err(in_words);
    let from = from.map_or_else(|| whole(buffer.len()), Ok)?;
    let planned = planned(&from, &to.clone().map_or_else(|| whole(bytes), Ok)?).map_err(in_words)?;
    let plan = Arc::clone(&planned.plan);
    let source = lend(node, buffer, release);
    let when = if before.is_some() { When::Launched } else { When::Past };
    Ok(step(plan, (source, target), when, move |held, buffer| {
        let landed = before.map(|before| {
            let landed = held.streams.of(Lane::Within).record()?;
            before.wait(&landed)?;
            Ok::<_, DeviceError>(landed)
        });
        let filled = DeviceFilled { buffer, layout: to, len: bytes, landed: landed.transpose()? };
        Ok(Arrived::DevicePosted(filled.into()))
    }))
}

/// A step from buffer to buffer, launched with the others of its turn; `arrived` makes the argument of what it writes.
fn step(
    plan: Arc<Copying>,
    (source, target): (DeviceBuffer<u8>, DeviceBufferMut<u8>),
    when: When,
    arrived: impl FnOnce(&Held<Node>, DeviceBufferMut<u8>) -> Result<Arrived, DeviceError> + Send + 'static,
) -> Plan<Arrived> {
    Plan::Begin(Box::new(move |node, finish| {
        let device = target.device().clone();
        held(node, &device).ways.stepped.add_shared(1);
        let of = device.clone();
        let then = move |node: &Arc<Node>, done: Result<Done, DeviceError>| {
            let argument = done.and_then(|done| match done {
                Done::Filled(target) => arrived(held(node, &of), target),
                Done::Landed(_) => unreachable!("it goes from buffer to buffer"),
            });
            finish(node, argument.map_err(Failure::Device));
        };
        let add = move |batch: &mut chare_device::Batch| batch.step(&plan, source, target);
        launch_soon(node, (&device, Lane::Within), add, (when, Box::new(then)));
    }))
}

/// A device of this node.
fn held<'a>(node: &'a Node, device: &Device) -> &'a Held<Node> {
    node.devices.held(device).expect("what is sent is of a device of the node")
}
