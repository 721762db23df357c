//! Mapped device memory: a buffer of another process of the host, on the same device, seen in place or copied by one step.

#![expect(unsafe_code, reason = "uses memory of a device that another process has lent")]

use super::room::Room;
use super::saying::send_done;
use crate::model::nocopy::{Arrived, LeavingDevice, Lender, MappedDevice, Release, ToldLayout};
use crate::node::Node;
use crate::transfer::copy::laid_out::in_words;
use crate::transfer::device::continuing::past_uses;
use crate::transfer::device::within;
use crate::transfer::take::gathering::{Failure, Plan};
use chare_device::DeviceBuffer;
use std::sync::Arc;

/// Why memory of another process was not taken.
pub(super) enum NotTaken {
    /// It cannot be mapped: it may come in chunks.
    Unmapped(Room),
    Failed(Failure),
}

impl<F: Into<Failure>> From<F> for NotTaken {
    fn from(failure: F) -> Self {
        Self::Failed(failure.into())
    }
}

/// Plans the way of an argument from memory that its owner has named: the buffer itself, or a step into the room. The owner is told when
/// all streams here are past it.
pub(super) fn take(
    node: &Arc<Node>,
    owner: Lender,
    named: &MappedDevice,
    room: Room,
) -> Result<Plan<Arrived>, NotTaken> {
    let Some(device) = room.device().cloned() else { return Err(NotTaken::Unmapped(room)) };
    let arena = match node.devices.sharing.map(&device, named) {
        Ok(arena) => arena,
        Err(_) => return Err(NotTaken::Unmapped(room)),
    };
    let end = named.offset.saturating_add(named.bytes);
    let span = arena.part(named.offset..end).map_err(|error| error.to_string())?;
    let layout = named.layout.clone().map(|ToldLayout(layout)| layout);
    if let Some(layout) = &layout {
        layout.check_bounds(named.bytes).map_err(in_words)?;
    }
    let (shown, wanted) = (layout.as_ref().map_or(named.bytes, |layout| layout.bytes()), room.bytes());
    if shown < wanted as u64 {
        return Err(format!("{} shows {shown} bytes of {wanted} that were asked for", owner.node).into());
    }
    let weak = Arc::downgrade(node);
    let given = room.into_given().unwrap_or_else(|_| unreachable!("the room is on a device"));
    // Who posted memory for it hears from the step whether it came.
    let whose = given.is_none().then(|| format!("{}, which sent it to {}", named.sender, node.id).into());
    let release = Release::of(whose, named.bytes, true, move |_| {
        if let Some(node) = weak.upgrade().filter(|node| !node.has_ended()) {
            send_done(&node, owner);
        }
    });
    let over = past_uses(node, device.clone(), release);
    // SAFETY: the owner writes its buffer again when it has been told, which is when the uses are over; what was written before, its
    // streams were past when it named the memory.
    let buffer = unsafe { DeviceBuffer::foreign(&device, span, over) }.map_err(Failure::Device)?;
    node.devices.held(&device).expect("rooms are on devices of the node").ways.mapped.add_shared(1);
    let leaving = LeavingDevice { buffer, layout, release: None };
    Ok(match given {
        None => within::receive(node, leaving)?,
        Some(given) => within::fill(node, leaving, given)?,
    })
}
