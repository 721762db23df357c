//! Messages between the owner of a device buffer and who receives it.

use super::inflow::Inflow;
use super::mapped;
use super::outflow::{Outflow, Sink};
use super::pinned::as_memory;
use super::room::Room;
use crate::delivery::zerocopy::device::End;
use crate::delivery::zerocopy::device::continuing::continue_later;
use crate::delivery::zerocopy::device::ending::lend;
use crate::delivery::zerocopy::gathering::{Failure, Plan};
use crate::delivery::zerocopy::remote_memory::{fetch, send_release};
use crate::delivery::zerocopy::send::describe_one;
use crate::model::envelope::frame::{self, Header};
use crate::model::nocopy::{
    Arrived, Descriptor, DeviceDescriptor, DeviceFrame, Given, GivenMemory, Leaving, LeavingDevice, Lender,
    NocopyKind, Release,
};
use crate::node::Node;
use crate::node::devices::Taker;
use chare_device::Pinned;
use chare_lrts::{MemoryMut, NodeId, Token};
use std::sync::{Arc, OnceLock};

/// Sends a message to another node.
pub(in crate::delivery::zerocopy::device) fn send(
    node: &Node,
    peer: NodeId,
    said: DeviceFrame,
) -> Result<(), String> {
    let frame = frame::encode(&Header::Device(said), None)?;
    node.outside.sent.add_shared(1);
    node.post(&node.outside, peer, frame);
    Ok(())
}

/// Takes a part of what was asked for.
///
/// # Errors
/// What does not fit, in words.
pub(in crate::delivery::zerocopy::device) fn given(
    node: &Arc<Node>,
    source: NodeId,
    transfer: Token,
    given: GivenMemory,
) -> Result<(), String> {
    let taker = node.devices.asked.look(transfer, Arc::clone);
    let taker = taker.ok_or_else(|| format!("memory of a device for {transfer:#x}, which has not asked"))?;
    taker.take(node, source, given)
}

/// Takes a buffer back that nobody uses any more.
///
/// # Errors
/// A token that is not out, in words.
pub(in crate::delivery::zerocopy::device) fn done(node: &Arc<Node>, token: Token) -> Result<(), String> {
    let leaving = node.devices.lent.take_back(token);
    drop(leaving.ok_or_else(|| not_out(token))?);
    Ok(())
}

fn not_out(token: Token) -> String {
    format!("device buffer {token:#x}, which is not out")
}

/// Gives who asked the first `bytes` of a buffer, when the streams before it are past it.
///
/// # Errors
/// What does not fit, in words.
pub(in crate::delivery::zerocopy::device) fn asked(
    node: &Arc<Node>,
    to: (NodeId, Token),
    token: Token,
    bytes: u64,
    maps: bool,
) -> Result<(), String> {
    let leaving = if maps {
        node.devices.lent.look(token, LeavingDevice::clone)
    } else {
        node.devices.lent.take_back(token)
    };
    let leaving = leaving.ok_or_else(|| not_out(token))?;
    if bytes > leaving.bytes() as u64 {
        return Err(format!("{bytes} bytes of device buffer {token:#x}, which offers {}", leaving.bytes()));
    }
    if let Some(release) = &leaving.release {
        release.take(bytes);
    }
    if maps {
        show(node, to, leaving);
    } else {
        let LeavingDevice { buffer, layout, release } = leaving;
        Outflow::begin(node, (lend(node, buffer, release), layout), bytes, Sink::Peer(to.0, to.1));
    }
    Ok(())
}

/// Tells who asked where a buffer is, when the streams before it are past it.
fn show(node: &Arc<Node>, (peer, transfer): (NodeId, Token), leaving: LeavingDevice) {
    let LeavingDevice { buffer, layout, .. } = leaving;
    let fail =
        move |node: &Node, failure: Failure| failure.end(node, format!("showing a device buffer to {peer}"));
    let ends = &node.devices.held(buffer.device()).expect("what is sent is of a device of the node").ends;
    if let Err(cause) = buffer.before(ends) {
        return fail(node, cause.into());
    }
    continue_later(node, ends, move |node, passed| {
        let named = passed.and_then(|()| node.devices.sharing.name(&buffer, layout.as_ref()));
        let said = named.map_err(Failure::Device).and_then(|named| {
            let given = GivenMemory::Mapped(named);
            send(node, peer, DeviceFrame::Given { transfer, given }).map_err(Failure::Words)
        });
        if let Err(failure) = said {
            fail(node, failure);
        }
    });
}

/// Sends a chunk, which comes back by its release.
pub(super) fn send_chunk(
    node: &Arc<Node>,
    (peer, transfer): (NodeId, Token),
    at: u64,
    (chunk, back): (Pinned, Arc<Release>),
) {
    let leaving = Leaving::plain(as_memory(chunk).freeze(), Some(back));
    let nocopy = describe_one(node, peer, NocopyKind::Received, leaving);
    let given = GivenMemory::Chunk { at, nocopy };
    if let Err(cause) = send(node, peer, DeviceFrame::Given { transfer, given }) {
        Failure::Words(cause).end(node, format!("sending a device buffer to {peer}"));
    }
}

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
    let DeviceDescriptor { owner, bytes, uuid } = described;
    let offered = usize::try_from(bytes).map_err(|_| format!("{} announces {bytes} bytes", owner.node))?;
    let room = Room::new(node, end, offered, given)?;
    let maps = room.device().is_some_and(|device| device.info().uuid.0 == uuid)
        && node.network.copies(owner.node)
        && room.bytes() > 0;
    Ok(Plan::Begin(Box::new(move |node, finish| {
        let wanted = room.bytes() as u64;
        let inflow = Inflow::begin(node, room, finish);
        let asking = Arc::new(Asking { owner, wanted, inflow, name: OnceLock::new() });
        asking.ask(node, maps);
    })))
}

/// An argument that its owner was asked for.
struct Asking {
    owner: Lender,
    wanted: u64,
    inflow: Arc<Inflow>,
    /// What the owner calls it; written once, before the owner is asked.
    name: OnceLock<Token>,
}

impl Asking {
    fn ask(self: Arc<Self>, node: &Arc<Node>, maps: bool) {
        let Lender { node: owner, token } = self.owner;
        let (asking, taker) = (Arc::clone(&self), Arc::clone(&self) as Arc<dyn Taker>);
        let transfer = *self.name.get_or_init(|| node.devices.asked.give_out(taker));
        if asking.wanted == 0 {
            // Nothing comes for nothing.
            drop(node.devices.asked.take_back(transfer));
        }
        let said = DeviceFrame::Ask { token, transfer, bytes: asking.wanted, maps };
        if let Err(cause) = send(node, owner, said) {
            asking.inflow.fail(node, Failure::Words(cause));
        }
    }

    fn forget(&self, node: &Node) {
        if let Some(name) = self.name.get() {
            drop(node.devices.asked.take_back(*name));
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
        let inflow = Arc::clone(&self.inflow);
        let arrive = move |node: &Arc<Node>, chunk: MemoryMut, lender: Option<Lender>| {
            if let Some(lender) = lender {
                send_release(node, lender, len as u64);
            }
            self.inflow.arrive(node, at, chunk);
            if self.inflow.missing() == 0 {
                self.forget(node);
            }
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
            Descriptor::Lent { key, layout: None, token } if key.node == source => {
                let lender = Lender { node: source, token };
                let what = move || format!("fetching a chunk of a device buffer of {source}");
                let fill = move |node: &Arc<Node>, into: MemoryMut| {
                    fetch(node, what, (key, 0), (into, len), move |node, into| {
                        arrive(node, into, Some(lender))
                    });
                };
                inflow.make_room(node, len, Box::new(fill));
                Ok(())
            }
            _ => Err(format!("{source} gives a part of a device buffer in a way that none goes")),
        }
    }
}

impl Taker for Asking {
    fn take(self: Arc<Self>, node: &Arc<Node>, source: NodeId, given: GivenMemory) -> Result<(), String> {
        if source != self.owner.node {
            return Err(format!("{source} gives what {} was asked for", self.owner.node));
        }
        match given {
            GivenMemory::Chunk { at, nocopy } => self.take_chunk(node, source, at, nocopy),
            GivenMemory::Mapped(named) => {
                let Some((room, finish)) = self.inflow.take_room() else {
                    return Err(format!("{source} shows memory of a device that came already"));
                };
                match mapped::take(node, self.owner, &named, room) {
                    Ok(Plan::Ready(arrived)) => finish(node, Ok(arrived)),
                    Ok(Plan::Begin(begin)) => begin(node, finish),
                    Ok(Plan::Fetch(_)) => unreachable!("mapped memory is not fetched"),
                    Err(mapped::NotTaken::Unmapped(room)) => {
                        // By chunks, then.
                        let inflow = Inflow::begin(node, room, finish);
                        let again =
                            Self { owner: self.owner, wanted: self.wanted, inflow, name: OnceLock::new() };
                        Arc::new(again).ask(node, false);
                    }
                    Err(mapped::NotTaken::Failed(failure)) => finish(node, Err(failure)),
                }
                self.forget(node);
                Ok(())
            }
        }
    }
}
