//! Descriptions of a call's nocopy arguments for another node.

use super::device;
use super::lend::send::describe_one;
use crate::model::nocopy::{Descriptor, Few, Local, Nocopy, NocopyKind};
use crate::model::registry::EntryRegistration;
use crate::node::Node;
use crate::node::ways_taken::Argument;
use chare_lrts::NodeId;

/// Describes a nocopy argument to another node, which takes it for many.
pub(crate) fn describe_to_many(node: &Node, peer: NodeId, kind: NocopyKind, local: Local) -> Descriptor {
    match local {
        Local::Host(leaving) => describe_one(node, peer, kind, leaving).1,
        Local::Device(leaving) => device::describe_to_many(node, kind, leaving),
    }
}

/// Describes the nocopy arguments of a call to another node, as far as they have come.
pub(crate) fn describe(
    node: &Node,
    peer: NodeId,
    entry: &EntryRegistration,
    nocopy: Nocopy,
) -> Few<Descriptor> {
    let kinds = entry.nocopy.iter().enumerate();
    let describe_one = |((position, kind), one): ((usize, &NocopyKind), Local)| match one {
        Local::Host(leaving) => {
            let bytes = leaving.bytes();
            let (choice, descriptor) = describe_one(node, peer, *kind, leaving);
            node.ways_taken.note_sent(Argument { entry, position }, choice.words(), bytes);
            descriptor
        }
        Local::Device(leaving) => device::describe(node, leaving),
    };
    match nocopy {
        Nocopy::Leaving(leaving) => {
            // Pushed one by one: `collect` would reckon with many.
            let mut described = Few::new();
            for one in kinds.zip(leaving) {
                described.push(describe_one(one));
            }
            described
        }
        // The arguments came here because the chare was thought to be here.
        Nocopy::Described(descriptors) => descriptors,
        Nocopy::Arrived(arrived) => {
            kinds.zip(arrived.into_iter().map(Local::from)).map(describe_one).collect()
        }
    }
}
