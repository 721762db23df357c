//! Messages to all nodes, down the tree of nodes whose root is the sender's.

use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::envelope::{Envelope, SystemMessage};
use crate::model::error::JobError;
use crate::model::ids::{NodeId, ServiceId};
use crate::model::nocopy::CarriedDescriptor;
use crate::node::Node;
use crate::pe::Pe;
use crate::transfer::many::{self, Carried, PassedOn, Tail};
use serde::Serialize;

/// The service of a message to all nodes, and the nocopy memory that the message brings.
pub(crate) struct TreeMessage<'a> {
    pub(crate) service: ServiceId,
    pub(crate) carried: &'a [Carried],
    /// Whether PEs are to run it, so that it costs something.
    pub(crate) is_run: bool,
}

impl TreeMessage<'_> {
    /// A message without nocopy memory.
    pub(crate) fn plain(service: ServiceId) -> Self {
        Self { service, carried: &[], is_run: false }
    }

    fn with_tail<'a>(&'a self, tail: Tail<'a>) -> PassedOn<'a> {
        let Self { service, carried, is_run } = *self;
        PassedOn { service, carried, tail, is_run }
    }
}

/// Sends a message from this node to all others: `message` of each child's descriptors, and the arguments behind it. Where no child needs
/// descriptors of its own, all children read one encoding.
pub(crate) fn tell_nodes<M: Serialize>(
    pe: &Pe,
    telling: TreeMessage<'_>,
    arguments: &Arguments,
    message: impl Fn(Vec<CarriedDescriptor>) -> M,
) {
    let node = &pe.node;
    if node.topology.nodes() == 1 {
        return;
    }
    pe.counters.encodes.add(1);
    let passed = telling.with_tail(Tail::Value(arguments));
    let told = many::pass_on(node, &pe.counters, node.id, passed, message);
    if let Err(cause) = told {
        pe.fail("a broadcast".to_owned(), cause);
    }
}

/// Passes a message that came from the node above on to the nodes below.
pub(crate) fn tell_children<M: Serialize>(
    node: &Node,
    root: NodeId,
    telling: TreeMessage<'_>,
    tail: Tail<'_>,
    message: impl Fn(Vec<CarriedDescriptor>) -> M,
) {
    if let Err(cause) = many::pass_on(node, &node.outside, root, telling.with_tail(tail), message) {
        fail(node, cause);
    }
}

/// Ends the job, because a broadcast cannot go on from here.
pub(super) fn fail(node: &Node, cause: String) {
    let (what, pe) = ("passing on a broadcast".to_owned(), node.topology.pe(node.id, 0));
    node.fail(JobError::Delivery { what, pe, node: node.id, cause });
}

/// Leaves a message with every PE of this node.
pub(crate) fn tell_pes<M: SystemMessage>(node: &Node, options: &CallOptions, message: impl Fn() -> M) {
    for pe in node.pes() {
        node.deliver_counted(pe, Envelope::system(options.clone(), message()));
    }
}

/// # Errors
/// When the root that another node names does not exist, in words.
pub(crate) fn check_root(node: &Node, root: NodeId) -> Result<(), String> {
    if root.0 < node.topology.nodes() {
        Ok(())
    } else {
        Err(format!("a broadcast from {root}, which does not exist"))
    }
}
