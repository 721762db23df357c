//! Descriptions of a call's nocopy arguments for another node.

use super::device;
use super::lend::send::describe_one;
use crate::model::nocopy::{Descriptor, Few, Local, Nocopy, NocopyKind};
use crate::node::Node;
use chare_lrts::NodeId;

/// Describes a nocopy argument to another node, which takes it for many.
pub(crate) fn describe_to_many(node: &Node, peer: NodeId, kind: NocopyKind, local: Local) -> Descriptor {
    match local {
        Local::Host(leaving) => describe_one(node, peer, kind, leaving),
        Local::Device(leaving) => device::describe_to_many(node, kind, leaving),
    }
}

/// Describes the nocopy arguments of a call to another node, as far as they have come.
pub(crate) fn describe(node: &Node, peer: NodeId, kinds: &[NocopyKind], nocopy: Nocopy) -> Few<Descriptor> {
    let describe_one = |(kind, one): (&NocopyKind, Local)| match one {
        Local::Host(leaving) => describe_one(node, peer, *kind, leaving),
        Local::Device(leaving) => device::describe(node, leaving),
    };
    match nocopy {
        Nocopy::Leaving(leaving) => {
            // Pushed one by one: `collect` would reckon with many.
            let mut described = Few::new();
            for one in kinds.iter().zip(leaving) {
                described.push(describe_one(one));
            }
            described
        }
        // The arguments came here because the chare was thought to be here.
        Nocopy::Described(descriptors) => descriptors,
        Nocopy::Arrived(arrived) => {
            kinds.iter().zip(arrived.into_iter().map(Local::from)).map(describe_one).collect()
        }
    }
}
