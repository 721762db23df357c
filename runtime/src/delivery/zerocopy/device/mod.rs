//! Device arguments: nocopy arguments of which one end lies on a device, or both do.
//!
//! 1. A buffer keeps in itself what streams still do with it. So an argument moves at once, and who uses it next has a stream wait: nobody
//!    waits on a thread.
//! 2. Where both ends are on one device of this process, the buffer itself goes ([`within`]), or one step on the node's stream copies from
//!    layout to layout. All other ways lead across ([`across`]).
//! 3. A sender that waits for its buffer lends it: when the last handle of the loan is dropped, a stream is asked to be past all that
//!    others still do with it, and only then is the sender told ([`ending`]).
//! 4. What is begun on a stream goes on by [`Node::later`], on a PE, and counts as a message on its way until then.

mod across;
mod arriving;
mod continuing;
mod ending;
mod registered;
mod within;

pub(crate) use across::describe;
pub(crate) use arriving::arrived;
pub(crate) use continuing::continue_later;
pub(crate) use registered::{check_device, get, put};

use super::gathering::{Failure, Plan};
use super::send::release;
use crate::model::ids::PeId;
use crate::model::nocopy::{Arrived, Descriptor, Given, LeavingDevice, Local, NocopyKind, OutgoingDevice};
use crate::node::Node;
use crate::node::devices::is_same;
use chare_device::Device;
use std::sync::Arc;

/// Where an argument comes from.
pub(super) enum Origin {
    /// It is in this process.
    Here(Local),
    /// It is in another one.
    There(Descriptor),
}

/// Where an argument is to be: a parameter of this kind, on this PE.
#[derive(Clone, Copy)]
pub(super) struct End {
    pub(super) pe: PeId,
    pub(super) kind: NocopyKind,
}

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
pub(super) fn plan(
    node: &Arc<Node>,
    end: End,
    origin: Origin,
    given: Option<Given>,
) -> Result<Plan<Arrived>, Failure> {
    match (origin, given) {
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

impl End {
    /// Whether the runtime is to provide memory of this device.
    fn is_on(self, node: &Node, device: &Device) -> bool {
        let rank = node.rank_here(self.pe).expect("arguments are brought in where their chare is");
        self.kind == NocopyKind::DeviceReceived
            && node.devices.of(rank).is_ok_and(|held| is_same(&held.device, device))
    }
}
