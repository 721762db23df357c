//! Landings of registered device memory: how a transfer that has begun is answered, filled, or fails.

use crate::model::nocopy::{
    Arrived, Descriptor, DeviceRefusal, DeviceTransferError, Given, NocopyKind, PostedDevice,
};
use crate::node::Node;
use crate::node::devices::Answer;
use crate::transfer::device::across::send_done;
use crate::transfer::device::ends::{End, Origin};
use crate::transfer::device::planning::plan;
use crate::transfer::take::gathering::{Failure, Plan};
use chare_device::DeviceBufferMut;
use chare_lrts::{NodeId, Token};
use std::sync::Arc;

/// Memory that a transfer was to fill and did not.
pub(crate) struct Unfilled {
    pub(crate) cause: DeviceTransferError,
    /// Nothing if a command had it that its device did not take.
    pub(crate) buffer: Option<DeviceBufferMut<u8>>,
}

impl Unfilled {
    /// What failed of a transfer with another node, or within this one.
    fn by(failure: Failure, other: NodeId) -> Self {
        let (failure, buffer) = match failure {
            Failure::Unfilled(failure, buffer) => (*failure, Some(buffer)),
            failure => (failure, None),
        };
        let cause = match failure {
            Failure::Refused(cause) => cause,
            Failure::Device(cause) => cause.into(),
            Failure::Transfer(cause) => cause.into(),
            Failure::Words(cause) => DeviceTransferError::Misfit { owner: other, cause },
            Failure::Unfilled(failure, _) => return Self { buffer, ..Self::by(*failure, other) },
        };
        Self { cause, buffer }
    }
}

/// Ends the job for a transfer whose failure nobody asked for. `what` names the transfer.
pub(crate) fn transfer_failed(node: &Node, what: String, cause: DeviceTransferError) {
    Failure::Refused(cause).end(node, what);
}

/// Takes an answer about registered memory.
///
/// # Errors
/// What does not fit, in words.
pub(in crate::transfer::device) fn on_answer(
    node: &Arc<Node>,
    source: NodeId,
    transfer: Token,
    answer: Answer,
) -> Result<(), String> {
    let take = node.devices.begun.take_back(transfer);
    let take =
        take.ok_or_else(|| format!("{source} answers for transfer {transfer:#x}, which is not under way"))?;
    take(node, source, answer)
}

/// Refuses a transfer in the place of the owner, who could not be asked, for this reason.
pub(super) fn refuse_here(node: &Arc<Node>, owner: NodeId, transfer: Token, cause: String) {
    let refused = Answer::Refused(DeviceRefusal::Misfit(cause));
    on_answer(node, owner, transfer, refused).expect("it has just begun, and a refusal fits every transfer");
}

/// Brings a buffer into memory that was given, as a posted argument comes from that node.
pub(super) fn land(
    node: &Arc<Node>,
    origin: Origin,
    from: NodeId,
    given: PostedDevice,
    then: impl FnOnce(&Arc<Node>, Result<DeviceBufferMut<u8>, Unfilled>) + Send + 'static,
) {
    let offered = match &origin {
        Origin::There(Descriptor::Device(offered)) => Some(offered.owner),
        Origin::There(_) | Origin::Here(_) => None,
    };
    let end = End { pe: node.topology.pe(node.id, 0), kind: NocopyKind::DevicePosted };
    match plan(node, end, origin, Some(Given::Device(given))) {
        Ok(Plan::Begin(begin)) => begin(
            node,
            Box::new(move |node, arrived| match arrived {
                Ok(Arrived::DevicePosted(filled)) => then(node, Ok(filled.buffer)),
                Ok(_) => unreachable!("what was given is filled"),
                Err(failure) => then(node, Err(Unfilled::by(failure, from))),
            }),
        ),
        Ok(Plan::Ready(_) | Plan::Fetch(_)) => unreachable!("what lands on a device is begun"),
        Err(failure) => {
            if let Some(offered) = offered {
                send_done(node, offered);
            }
            then(node, Err(Unfilled::by(failure, from)));
        }
    }
}
