//! Ways between two devices, a device and the host, and two processes.
//!
//! ```text
//! device -> outflow -> chunks in pinned memory -> [network] -> inflow -> device or host      another node, or another device of this one
//! host   -> feed ----> chunks in pinned memory ------------> inflow -> device                host memory, wherever it came from
//! device -> arena that both map ---------------------------> view, or one step               two processes of one host
//! device -> arena that the other device maps --------------> one step of that device          two devices of one host that reach each other
//! device -------------------------------------> [network] ------------> device               where the network registers memory of devices
//! ```
//! 1. LRTS knows memory of devices only as what a network may register ([`direct`]). Where it does not, a chunk is pinned memory of the host, lent to the other node as a nocopy argument is, so all paths of the network
//!    carry it.
//! 2. The receiver asks when it knows where the argument is to be; the owner gives when the streams before the argument are past it.
//! 3. Packing, the way to the host, the network, the way to the device, and unpacking of different chunks go on at the same time: what ends a
//!    stage begins the next one.
//! 4. What another node says is compared with what was asked for.

mod answering;
mod asking;
mod direct;
mod feed;
mod inflow;
mod legs;
mod mapped;
mod outflow;
mod pinned;
mod room;
mod saying;

pub(super) use answering::{asked, done, given};
pub(super) use pinned::{as_memory, landed_memory};
pub(super) use saying::{send, send_done};

use super::continuing::lend;
use super::ends::{End, Origin};
use crate::model::nocopy::{
    Arrived, Descriptor, DeviceDescriptor, Given, Leaving, LeavingDevice, Lender, Local, NocopyKind,
    PostedMemory,
};
use crate::node::Node;
use crate::node::devices::{Lent, Sender};
use crate::pe::Pe;
use crate::transfer::take::gathering::{Failure, Fetch, Plan};
use crate::transfer::take::receive;
use crate::transfer::take::remote_memory::{self, fetch};
use crate::transfer::ways::{self, Way};
use asking::ask;
use chare_device::DeviceBuffer;
use feed::Feed;
use outflow::in_chunks;
use room::Room;
use std::sync::Arc;

/// Describes a device argument of a call to another node, which may ask for it.
pub(crate) fn describe(node: &Node, leaving: LeavingDevice) -> Descriptor {
    Descriptor::Device(offer(node, Lent { leaving, sender: sender(), is_registered: false }))
}

/// Keeps a buffer for another node, which may ask for it.
pub(super) fn offer(node: &Node, lent: Lent) -> DeviceDescriptor {
    let (bytes, uuid) = (lent.leaving.bytes() as u64, lent.leaving.buffer.device().info().uuid.0);
    let token = node.devices.lent.give_out(lent);
    DeviceDescriptor { owner: Lender { node: node.id, token }, bytes, uuid, answered: None }
}

/// The entry that runs on this PE, and the PE, for errors that are found when it is over.
pub(crate) fn sender() -> Sender {
    Pe::try_current(|pe| format!("{} on {}", pe.running().describe(), pe.id))
        .unwrap_or_else(|| "a call that was sent on".to_owned())
        .into()
}

/// Plans the way of an argument whose ends are not both on one device of this process.
///
/// # Errors
/// What does not fit, and what a device says.
pub(in crate::transfer::device) fn plan(
    node: &Arc<Node>,
    end: End,
    origin: Origin,
    given: Option<Given>,
) -> Result<Plan<Arrived>, Failure> {
    match origin {
        Origin::There(Descriptor::Device(described)) => ask(node, end, described, given),
        Origin::There(descriptor) => {
            let (offered, room) = (descriptor.bytes(), Room::new(node, end, descriptor.bytes(), given)?);
            // Where less is taken than is offered, only that is fetched, and told to the sender.
            let is_part = room.bytes() < offered;
            let into = is_part.then(|| remote_memory::room(node, room.bytes() as u64)).transpose()?;
            let into = into.map(|memory| PostedMemory { bytes: memory.len(), memory, layout: None });
            let kind = if is_part { NocopyKind::Posted } else { NocopyKind::Viewed };
            let (_, plan) = receive::plan(node, kind, descriptor, into)?;
            Ok(Plan::Begin(Box::new(move |node, finish| {
                bring(node, end, plan, move |node, arrived| match arrived.map(Local::from) {
                    Ok(Local::Host(Leaving { memory, layout, release, .. })) => {
                        Feed::begin(node, (memory, layout, release), room, finish);
                    }
                    Ok(Local::Device(_)) => unreachable!("it was brought into memory of the host"),
                    Err(failure) => finish(node, Err(failure)),
                });
            })))
        }
        Origin::Here(Local::Host(leaving)) => {
            let room = Room::new(node, end, leaving.bytes(), given)?;
            let Leaving { memory, layout, release, .. } = leaving;
            Ok(Plan::Begin(Box::new(move |node, finish| {
                Feed::begin(node, (memory, layout, release), room, finish);
            })))
        }
        Origin::Here(Local::Device(leaving)) => {
            let room = Room::new(node, end, leaving.bytes(), given)?;
            let LeavingDevice { buffer, layout, release } = leaving;
            if let Some(release) = &release {
                release.take(room.bytes() as u64);
            }
            let lent = (lend(node, buffer, release), layout);
            let is_pulled = is_pulled(node, &lent.0, &room);
            Ok(Plan::Begin(Box::new(move |node, finish| match is_pulled {
                true => mapped::pull(node, lent, room, finish),
                false => in_chunks(node, lent, room, finish),
            })))
        }
    }
}

/// Whether the device of a room is to copy a buffer of another device of this process by itself.
fn is_pulled(node: &Node, buffer: &DeviceBuffer<u8>, room: &Room) -> bool {
    let owner = buffer.device().info();
    let reaches = room.device().is_some_and(|device| device.reaches(owner.uuid));
    let is_worth_mapping = ways::is_worth_mapping(room.bytes(), buffer.arena().is_adopted());
    let is_mapped = reaches && owner.is_exportable && is_worth_mapping;
    let pulls = || room.pulls(node, &[legs::HERE]);
    ways::across_devices(room.bytes(), true, is_mapped, pulls, || false).way == Way::DeviceMapped
}

/// Brings an argument of another node into memory of the host, then runs `then`.
fn bring(
    node: &Arc<Node>,
    end: End,
    plan: Plan<Arrived>,
    then: impl FnOnce(&Arc<Node>, Result<Arrived, Failure>) + Send + 'static,
) {
    match plan {
        Plan::Ready(arrived) => then(node, Ok(arrived)),
        Plan::Fetch(Fetch { key, offset, into, bytes, arrive }) => {
            let what = move || format!("fetching an argument for the device of {}", end.pe);
            fetch(node, what, (key, offset), (into, bytes), move |node, memory| {
                let arrived = arrive(node, memory).map_err(Failure::Words);
                then(node, arrived);
            });
        }
        Plan::Begin(begin) => begin(node, Box::new(then)),
    }
}
