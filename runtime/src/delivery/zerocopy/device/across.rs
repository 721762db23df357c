//! Ways between two devices, a device and the host, and two processes.

use super::{End, Origin};
use crate::delivery::zerocopy::gathering::{Failure, Plan};
use crate::model::error::JobError;
use crate::model::nocopy::{Arrived, Descriptor, EagerBytes, Given, LeavingDevice};
use crate::node::Node;
use chare_lrts::MemoryMut;
use std::sync::Arc;

const NOT_BUILT: &str = "device buffers do not yet leave their device and process";

/// Describes a device argument of a call to another node.
pub(crate) fn describe(node: &Node, leaving: LeavingDevice) -> Descriptor {
    let (what, pe) = (format!("sending {:?}", leaving.buffer), node.topology.pe(node.id, 0));
    node.fail(JobError::Delivery { what, pe, node: node.id, cause: NOT_BUILT.to_owned() });
    let bytes = EagerBytes::new(MemoryMut::from_vec(Vec::new()).freeze(), None);
    Descriptor::Inline { bytes, lender: None }
}

/// Plans the way of an argument whose ends are not both on one device of this process.
///
/// # Errors
/// What does not fit, and what a device says.
pub(super) fn plan(
    _node: &Arc<Node>,
    _end: End,
    _origin: Origin,
    _given: Option<Given>,
) -> Result<Plan<Arrived>, Failure> {
    Err(Failure::Words(NOT_BUILT.to_owned()))
}
