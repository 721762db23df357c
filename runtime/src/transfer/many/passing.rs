//! Passing of a message with nocopy arguments to the nodes below this one.

use super::carried::Carried;
use crate::base::counters::Counters;
use crate::model::arguments::Arguments;
use crate::model::envelope::frame::{Packed, write_system};
use crate::model::ids::ServiceId;
use crate::model::nocopy::{CarriedDescriptor, carried_bytes};
use crate::node::Node;
use crate::node::credit::cost_of;
use chare_lrts::NodeId;
use chare_lrts::codec::{CodecError, Writer};
use serde::Serialize;

/// A message that a node passes on to nodes below it.
#[derive(Clone, Copy)]
pub(crate) struct PassedOn<'a> {
    /// The service whose message it is.
    pub(crate) service: ServiceId,
    pub(crate) carried: &'a [Carried],
    /// Arguments that follow the message in its frame.
    pub(crate) tail: Tail<'a>,
    /// Whether PEs are to run the message, so that it has a cost.
    pub(crate) is_run: bool,
}

/// Arguments behind a message that is passed on.
#[derive(Clone, Copy)]
pub(crate) enum Tail<'a> {
    /// Those that came from another node, or are kept so.
    Encoded(&'a [u8]),
    /// Those of the caller, which are written where the message lies: no copy of all of them is made on the way.
    Value(&'a Arguments),
}

impl Tail<'_> {
    fn write(self, out: &mut Writer<'_>) -> Result<(), CodecError> {
        match self {
            Self::Encoded(bytes) => {
                out.write_encoded(bytes);
                Ok(())
            }
            Self::Value(arguments) => arguments.encode(out),
        }
    }
}

/// Sends a message to each node below this one, in the tree below `root`: a message made of the child's descriptors, then the tail.
/// Counts each message before it goes.
///
/// # Errors
/// When the message refuses to be encoded, in words.
pub(crate) fn pass_on<M: Serialize>(
    node: &Node,
    counters: &Counters,
    root: NodeId,
    passed: PassedOn<'_>,
    message: impl Fn(Vec<CarriedDescriptor>) -> M,
) -> Result<(), String> {
    let children: Vec<NodeId> = node.topology.children(node.id, root).collect();
    let carried = passed.carried;
    // One frame for all children, where no child gets descriptors of its own.
    let alike = |one: &Carried| one.bytes_alike(node, &children);
    if let Some(first) = children.first()
        && let Some(bytes) = carried.iter().map(alike).collect::<Option<Vec<_>>>()
    {
        bytes.into_iter().for_each(|bytes| node.outside.count_copy(bytes));
        let described = describe_among(node, *first, &children, carried, |_| true);
        let (packed, cost) = pack(node, passed, described, &message)?;
        node.post_packed_to_children(counters, root, &packed, cost);
        return Ok(());
    }
    let is_below = |position: usize, one| node.topology.is_below(one, children[position], root);
    pass_each(node, counters, &children, passed, is_below, |_, nocopy| message(nocopy))
}

/// Sends a message to each of these nodes: a message made of the node's position and its descriptors, then the tail. Counts each message
/// before its receiver can have processed it.
///
/// # Errors
/// When a message refuses to be encoded, in words.
pub(crate) fn pass_to<M: Serialize>(
    node: &Node,
    counters: &Counters,
    children: &[NodeId],
    passed: PassedOn<'_>,
    message: impl Fn(usize, Vec<CarriedDescriptor>) -> M,
) -> Result<(), String> {
    pass_each(node, counters, children, passed, |_, _| true, message)
}

/// Passes a message on; `is_below` says whether a node is reached by way of the child at a position.
fn pass_each<M: Serialize>(
    node: &Node,
    counters: &Counters,
    children: &[NodeId],
    passed: PassedOn<'_>,
    is_below: impl Fn(usize, NodeId) -> bool,
    message: impl Fn(usize, Vec<CarriedDescriptor>) -> M,
) -> Result<(), String> {
    if children.is_empty() {
        return Ok(());
    }
    let whole = passed.carried.iter().filter(|one| one.parts.is_none());
    let eager = whole.filter_map(|one| one.eager_bytes(node, children));
    eager.for_each(|bytes| node.outside.count_copy(bytes));
    for (position, child) in children.iter().enumerate() {
        let needs = |one| is_below(position, one);
        let described = describe_among(node, *child, children, passed.carried, needs);
        let (packed, cost) = pack(node, passed, described, |nocopy| message(position, nocopy))?;
        counters.sent.add_shared(1);
        node.post_counted(counters, *child, packed, cost);
    }
    Ok(())
}

/// Describes arguments to one node, the only one that the message goes to.
pub(crate) fn describe(node: &Node, child: NodeId, carried: &[Carried]) -> Vec<CarriedDescriptor> {
    describe_among(node, child, &[child], carried, |_| true)
}

fn describe_among(
    node: &Node,
    child: NodeId,
    children: &[NodeId],
    carried: &[Carried],
    is_below: impl Fn(NodeId) -> bool,
) -> Vec<CarriedDescriptor> {
    let describe = |one: &Carried| match &one.parts {
        None => one.describe(node, child, children).into(),
        Some(parts) => one.describe_parts(node, child, parts, &is_below),
    };
    carried.iter().map(describe).collect()
}

/// A message and its tail, each byte of which is written once, and its cost if PEs are to run it.
fn pack<M: Serialize>(
    node: &Node,
    passed: PassedOn<'_>,
    nocopy: Vec<CarriedDescriptor>,
    message: impl Fn(Vec<CarriedDescriptor>) -> M,
) -> Result<(Packed, Option<u32>), String> {
    let lent_bytes = carried_bytes(&nocopy);
    let message = message(nocopy);
    let write = |out: &mut Writer<'_>| {
        write_system(out, (passed.service, None), |out| out.write(&message))?;
        passed.tail.write(out)
    };
    let packed = node.pack(write, Vec::new())?;
    let cost = passed.is_run.then(|| cost_of(packed.len(), lent_bytes));
    Ok((packed, cost))
}
