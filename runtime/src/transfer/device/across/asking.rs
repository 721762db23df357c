//! Questions for a device buffer: asked of its owner, when it is known where the argument is to be, and what comes of them.

use super::direct;
use super::inflow::Inflow;
use super::legs;
use super::mapped;
use super::room::Room;
use super::saying::{send, send_done};
use crate::model::nocopy::{
    Arrived, Descriptor, DeviceDescriptor, DeviceFrame, DeviceWay, Given, GivenMemory, Lender,
};
use crate::node::Node;
use crate::node::devices::Taker;
use crate::transfer::device::ends::End;
use crate::transfer::take::gathering::{Failure, Finish, Plan};
use crate::transfer::take::remote_memory::{fetch, send_release};
use crate::transfer::ways::{self, Way};
use chare_device::Uuid;
use chare_lrts::{MemoryMut, NodeId, Token};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Plans to ask the owner of a device buffer for it.
///
/// # Errors
/// A length that there is no memory for, and what a device says.
pub(super) fn ask(
    node: &Arc<Node>,
    end: End,
    described: DeviceDescriptor,
    given: Option<Given>,
) -> Result<Plan<Arrived>, Failure> {
    let DeviceDescriptor { owner, bytes, uuid, .. } = described;
    let offered = usize::try_from(bytes).map_err(|_| format!("{} announces {bytes} bytes", owner.node))?;
    let room = Room::new(node, end, offered, given)?;
    let near = room.device().filter(|device| device.reaches(Uuid(uuid)) && node.network.copies(owner.node));
    let is_shared = near.is_some_and(|device| device.info().is_exportable);
    if near.is_some() && !is_shared {
        tell_of_unexported(node, bytes);
    }
    // Memory of another device is copied always.
    let is_copied = room.is_posted() || room.device().is_some_and(|device| device.info().uuid.0 != uuid);
    let pulls = || room.pulls(node, &[legs::between(node, owner.node)]);
    let is_direct = || {
        let legs = (legs::direct(node, owner.node), legs::between(node, owner.node));
        room.device().is_some_and(|device| direct::serves(node, owner.node, device))
            && room.goes_directly(node, legs.0, &[legs.1])
    };
    let way = match ways::across_devices(room.bytes(), is_copied, is_shared, pulls, is_direct).way {
        Way::DeviceMapped => DeviceWay::Mapped,
        Way::DeviceDirect => DeviceWay::Direct,
        _ => DeviceWay::Chunks,
    };
    Ok(Plan::Begin(Box::new(move |node, finish| Asking::begin(node, owner, room, way, finish))))
}

/// Tells, once, that memory goes a longer way because processes cannot share it.
fn tell_of_unexported(node: &Node, bytes: u64) {
    if let Some(warning) = node.devices.sharing.tell_of_unexported(bytes) {
        node.network.warn(warning);
    }
}

/// An argument that its owner was asked for.
struct Asking {
    owner: Lender,
    wanted: u64,
    inflow: Arc<Inflow>,
    came: Arc<Came>,
}

/// How much of what was asked for has come, by which it is known whether more is on its way.
#[derive(Default)]
struct Came {
    /// The name under which it was asked for: written once, before the owner is asked.
    name: OnceLock<Token>,
    /// Bytes of chunks; counted by whoever takes one, on any thread.
    bytes: AtomicU64,
}

impl Came {
    /// Nothing more comes under the name.
    fn forget(&self, node: &Node) {
        drop(self.name.get().and_then(|name| node.devices.asked.take_back(*name)));
    }
}

impl Asking {
    /// Asks for what a room is to be filled with; `finish` takes it.
    fn begin(node: &Arc<Node>, owner: Lender, room: Room, way: DeviceWay, finish: Finish<Arrived>) {
        let wanted = room.bytes() as u64;
        let came = Arc::new(Came::default());
        let is_over = Arc::clone(&came);
        let forget = move |node: &Arc<Node>, arrived: Result<Arrived, Failure>| {
            // Chunks that come after a failure are given back.
            if arrived.is_ok() || is_over.bytes.load(Ordering::Relaxed) >= wanted {
                is_over.forget(node);
            }
            finish(node, arrived);
        };
        let inflow = Inflow::begin(node, room, &[legs::between(node, owner.node)], Box::new(forget));
        let asking = Arc::new(Self { owner, wanted, inflow: Arc::clone(&inflow), came: Arc::clone(&came) });
        let transfer = node.devices.asked.give_out(asking as Arc<dyn Taker<Node>>);
        if wanted == 0 {
            // Nothing comes for nothing.
            drop(node.devices.asked.take_back(transfer));
        }
        came.name.set(transfer).expect("it is written here alone");
        let said = DeviceFrame::Ask { token: owner.token, transfer, bytes: wanted, way };
        if let Err(cause) = send(node, owner.node, said) {
            came.forget(node);
            inflow.fail(node, Failure::Words(cause));
        }
    }

    /// Gives a chunk back that comes too late to be of use.
    fn give_back(&self, node: &Arc<Node>, source: NodeId, nocopy: &Descriptor) {
        let token = match nocopy {
            Descriptor::Inline { lender, .. } => lender.map(|lender| lender.token),
            Descriptor::Lent { token, .. } => Some(*token),
            Descriptor::Device(_) => None,
        };
        if let Some(token) = token {
            send_release(node, Lender { node: source, token }, nocopy.bytes() as u64);
        }
    }

    /// Takes a chunk: brings it into memory of the inflow.
    fn take_chunk(
        self: Arc<Self>,
        node: &Arc<Node>,
        source: NodeId,
        at: u64,
        nocopy: Descriptor,
    ) -> Result<(), String> {
        let len = nocopy.bytes();
        if at.checked_add(len as u64).is_none_or(|end| end > self.wanted) || len == 0 {
            return Err(format!("{source} gives {len} bytes at {at} of {} that were asked for", self.wanted));
        }
        let came = self.came.bytes.fetch_add(len as u64, Ordering::Relaxed) + len as u64;
        if came > self.wanted {
            return Err(format!("{source} gives {len} bytes at {at}, which have come already"));
        }
        if self.inflow.has_failed() {
            if came == self.wanted {
                self.came.forget(node);
            }
            self.give_back(node, source, &nocopy);
            return Ok(());
        }
        let inflow = Arc::clone(&self.inflow);
        let arrive = move |node: &Arc<Node>, chunk: MemoryMut, lender: Option<Lender>| {
            if let Some(lender) = lender {
                send_release(node, lender, len as u64);
            }
            self.inflow.arrive(node, at, chunk);
        };
        match nocopy {
            Descriptor::Inline { bytes, lender } => {
                let memory = bytes.land(None)?;
                let fill = move |node: &Arc<Node>, mut into: MemoryMut| {
                    into.as_mut_slice().copy_from_slice(memory.as_slice());
                    arrive(node, into, lender);
                };
                inflow.make_room(node, len, Box::new(fill));
                Ok(())
            }
            Descriptor::Lent { key, layout: None, token, .. } if key.node == source => {
                let lender = Lender { node: source, token };
                let what = move || format!("fetching a chunk of a device buffer of {source}");
                let fill = move |node: &Arc<Node>, into: MemoryMut| {
                    fetch(node, what, (key, 0), (into, len), move |node, into| {
                        arrive(node, into, Some(lender));
                    });
                };
                inflow.make_room(node, len, Box::new(fill));
                Ok(())
            }
            _ => Err(format!("{source} gives a part of a device buffer in a way that none goes")),
        }
    }
}

impl Taker<Node> for Asking {
    fn take(self: Arc<Self>, node: &Arc<Node>, source: NodeId, given: GivenMemory) -> Result<(), String> {
        if source != self.owner.node {
            return Err(format!("{source} gives what {} was asked for", self.owner.node));
        }
        match given {
            GivenMemory::Chunk { at, nocopy } => self.take_chunk(node, source, at, nocopy),
            GivenMemory::Mapped(named) => {
                self.came.forget(node);
                let Some((room, finish)) = self.inflow.take_room() else {
                    if self.inflow.has_failed() {
                        send_done(node, self.owner);
                        return Ok(());
                    }
                    return Err(format!("{source} shows memory of a device that came already"));
                };
                match mapped::take(node, mapped::Owner::There(self.owner), &named, room) {
                    Ok(Plan::Ready(arrived)) => finish(node, Ok(arrived)),
                    Ok(Plan::Begin(begin)) => begin(node, finish),
                    Ok(Plan::Fetch(_)) => unreachable!("mapped memory is not fetched"),
                    // By chunks, then.
                    Err(mapped::NotTaken::Unmapped(room, cause)) => {
                        mapped::tell_of_unmapped(node, &named, &room, cause);
                        Self::begin(node, self.owner, *room, DeviceWay::Chunks, finish);
                    }
                    Err(mapped::NotTaken::Failed(failure)) => finish(node, Err(failure)),
                }
                Ok(())
            }
            GivenMemory::Registered(key) => {
                if key.node != source || self.inflow.device().is_none() {
                    return Err(format!("{source} has registered what goes in another way"));
                }
                self.came.forget(node);
                let Some((room, finish)) = self.inflow.take_room() else {
                    if self.inflow.has_failed() {
                        send_done(node, self.owner);
                        return Ok(());
                    }
                    return Err(format!("{source} has registered memory of a device that came already"));
                };
                let owner = self.owner;
                direct::read(node, (owner, key), (room, finish), move |node, room, finish| {
                    Self::begin(node, owner, room, DeviceWay::Chunks, finish);
                });
                Ok(())
            }
            GivenMemory::Refused(refusal) => {
                self.came.forget(node);
                self.inflow.fail(node, Failure::Refused(refusal.of(source)));
                Ok(())
            }
        }
    }
}
