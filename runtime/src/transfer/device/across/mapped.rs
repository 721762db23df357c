//! Mapped device memory: a buffer of another process of the host on the same device, seen in place or copied by one step; or one of another
//! device that the room's reaches, copied by one step of that device, straight from where it is.

#![expect(unsafe_code, reason = "uses memory of a device that somebody else has lent")]

use super::answering::tell_of_adopted;
use super::outflow::in_chunks;
use super::room::Room;
use super::saying::send_done;
use crate::model::nocopy::{Arrived, LeavingDevice, Lender, MappedDevice, NamedMemory, Release, ToldLayout};
use crate::node::Node;
use crate::node::devices::sharing::Detour;
use crate::transfer::copy::laid_out::in_words;
use crate::transfer::device::continuing::{continue_later, past_uses};
use crate::transfer::device::within;
use crate::transfer::take::gathering::{Failure, Finish, Plan};
use chare_device::{Arena, Device, DeviceBuffer, MemoryHandle};
use chare_layout::Raw;
use std::fmt;
use std::mem::discriminant;
use std::sync::Arc;

/// Why memory of another process, or of another device, was not taken.
pub(super) enum NotTaken {
    /// It cannot be mapped, for this cause: it may come in chunks.
    Unmapped(Box<Room>, String),
    Failed(Failure),
}

impl<F: Into<Failure>> From<F> for NotTaken {
    fn from(failure: F) -> Self {
        Self::Failed(failure.into())
    }
}

/// Who has lent memory, until all streams here are past it.
pub(super) enum Owner {
    /// Another node, which is told.
    There(Lender),
    /// This one: the buffer of another device.
    Here(DeviceBuffer<u8>),
}

impl fmt::Display for Owner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::There(lender) => lender.node.fmt(out),
            Self::Here(buffer) => buffer.device().info().fmt(out),
        }
    }
}

/// Brings a buffer of another device of this process into the room, when the streams before it are past it: by one step of the room's device,
/// or in chunks if it cannot be mapped there.
pub(super) fn pull(
    node: &Arc<Node>,
    (buffer, layout): (DeviceBuffer<u8>, Option<Arc<Raw>>),
    room: Room,
    finish: Finish<Arrived>,
) {
    let held = node.devices.held(buffer.device()).expect("what is sent is of a device of the node");
    let ends = &held.streams.ends;
    if let Err(cause) = buffer.before(ends) {
        return finish(node, Err(cause.into()));
    }
    continue_later(node, ends, move |node, passed| {
        if let Err(cause) = passed {
            return finish(node, Err(cause.into()));
        }
        let (named, handle) = match node.devices.sharing.name(&buffer, layout.as_ref(), "a PE of this node") {
            Ok(named) => named,
            Err(cause) if cause.is_lost() => return finish(node, Err(cause.into())),
            Err(cause) => {
                if buffer.arena().is_adopted() {
                    let bytes = room.bytes() as u64;
                    tell_of_adopted(node, bytes, "a PE of this node", &Detour::Unnamed(cause));
                }
                return in_chunks(node, (buffer, layout), room, finish);
            }
        };
        let owner = Owner::Here(buffer.clone());
        let way = handle.as_ref().map(discriminant);
        let taken = match handle {
            None => take(node, owner, &named, room),
            Some(handle) if node.devices.sharing.is_refused(node.id, &handle) => {
                return in_chunks(node, (buffer, layout), room, finish);
            }
            Some(MemoryHandle::Name(..)) => {
                Err(NotTaken::Unmapped(room.into(), "its name is for other processes".to_owned()))
            }
            Some(handle) => take_by(node, owner, &named, room, |device| {
                device.import(handle).map_err(|error| error.to_string())
            }),
        };
        match taken {
            Ok(Plan::Ready(arrived)) => finish(node, Ok(arrived)),
            Ok(Plan::Begin(begin)) => begin(node, finish),
            Ok(Plan::Fetch(_)) => unreachable!("mapped memory is not fetched"),
            Err(NotTaken::Unmapped(room, cause)) => {
                if let Some(way) = way {
                    node.devices.sharing.refuse(node.id, way);
                }
                tell_of_unmapped(node, &named, &room, cause);
                in_chunks(node, (buffer, layout), *room, finish);
            }
            Err(NotTaken::Failed(failure)) => finish(node, Err(failure)),
        }
    });
}

/// Tells, once, that adopted memory goes a longer way than other memory would because it cannot be mapped here.
pub(super) fn tell_of_unmapped(node: &Node, named: &MappedDevice, room: &Room, cause: String) {
    if !matches!(named.memory, NamedMemory::Arena { .. }) {
        tell_of_adopted(node, room.bytes() as u64, &named.sender, &Detour::Unmapped(cause));
    }
}

/// Plans the way of an argument from memory that its owner has named: the buffer itself, or a step into the room. The owner is told when
/// all streams here are past it.
pub(super) fn take(
    node: &Arc<Node>,
    owner: Owner,
    named: &MappedDevice,
    room: Room,
) -> Result<Plan<Arrived>, NotTaken> {
    take_by(node, owner, named, room, |device| node.devices.sharing.map(device, named))
}

/// As [`take`], where `map` maps the memory for the room's device.
fn take_by(
    node: &Arc<Node>,
    owner: Owner,
    named: &MappedDevice,
    room: Room,
    map: impl FnOnce(&Device) -> Result<Arena, String>,
) -> Result<Plan<Arrived>, NotTaken> {
    let Some(device) = room.device().cloned() else {
        return Err(NotTaken::Unmapped(room.into(), "it is wanted in memory of the host".to_owned()));
    };
    let arena = match map(&device) {
        Ok(arena) => arena,
        Err(cause) => return Err(NotTaken::Unmapped(room.into(), cause)),
    };
    let end = named.offset.saturating_add(named.bytes);
    let span = arena.part(named.offset..end).map_err(|error| error.to_string())?;
    let mut layout = named.layout.clone().map(|ToldLayout(layout)| layout);
    if let Some(layout) = &layout {
        layout.check_bounds(named.bytes).map_err(in_words)?;
    }
    let (shown, wanted) = (layout.as_ref().map_or(named.bytes, |layout| layout.bytes()), room.bytes());
    if shown < wanted as u64 {
        return Err(format!("{owner} shows {shown} bytes of {wanted} that were asked for").into());
    }
    let weak = Arc::downgrade(node);
    let given = room.into_given().unwrap_or_else(|_| unreachable!("the room is on a device"));
    // Who posted memory for it hears from the step whether it came.
    let whose = given.is_none().then(|| format!("{}, which sent it to {}", named.sender, node.id).into());
    let release = Release::of(whose, named.bytes, true, move |_| match owner {
        Owner::There(lender) => {
            if let Some(node) = weak.upgrade().filter(|node| !node.has_ended()) {
                send_done(&node, lender);
            }
        }
        Owner::Here(buffer) => drop(buffer),
    });
    if matches!(named.memory, NamedMemory::Named { .. }) {
        // Its owner may free it when it has been told.
        arena.keep(Arc::clone(&release));
    }
    let over = past_uses(node, device.clone(), release);
    // SAFETY: the owner writes its buffer again when it has been told, which is when the uses are over; what was written before, its
    // streams were past when it named the memory.
    let buffer = unsafe { DeviceBuffer::foreign(&device, span, over) }.map_err(Failure::Device)?;
    let ways = &node.devices.held(&device).expect("rooms are on devices of the node").ways;
    let is_peer = named.uuid != device.info().uuid.0;
    if is_peer { &ways.peers } else { &ways.mapped }.add_shared(1);
    if is_peer && given.is_none() && layout.is_none() {
        // A view would have each use of it go from device to device: it is brought here, as what a layout selects is.
        layout = Some(Raw::bytes_of(named.bytes).map(Arc::new).map_err(in_words)?);
    }
    let leaving = LeavingDevice { buffer, layout, release: None };
    Ok(match given {
        None => within::receive(node, leaving)?,
        Some(given) => within::fill(node, leaving, given)?,
    })
}
