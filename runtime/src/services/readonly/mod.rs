//! Readonly values: set once while the job starts, then readable everywhere without a message. A value that changes, or that only some
//! PEs know, never stands here.
//!
//! 1. `main` sets them before its first `.await`, and before it has sent so much that it has to wait for another PE; they reach every node
//!    before any entry runs there.
//! 2. They go down the tree of nodes in one message. Large parts of them (a vector of numbers, or each `Buffer` wherever it is in a
//!    value) do not travel with it but are lent, as the nocopy arguments of a broadcast are: once into each process, or read in place
//!    where they can be mapped. A node runs entries when all have arrived.
//! 3. A vector lands in the vector that readers see. Of any other value each node keeps bytes and memory, and decodes them when the value
//!    is first read, because only the reader knows the type.
//!
//! The idea is Charm++'s readonly variables, and their zero-copy broadcast at start-up.

mod values;
mod vectors;

use crate::model::error::JobError;
use crate::model::ids::{NodeId, ServiceId};
use crate::model::nocopy::CarriedDescriptor;
use crate::node::{Arrival, Node, NodeService};
use crate::pe::Service;
use crate::services::broadcast::tree::{self, TreeMessage};
use crate::transfer::many;
use chare_lrts::codec;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use values::{Arriving, ReadonlyValues};

pub(crate) const ID: ServiceId = ServiceId(5);

pub(crate) const SERVICE: Service = Service {
    node: NodeService {
        state: || Box::new(ReadonlyValues::default()),
        arrive: |node, arrival| {
            arrive(node, arrival)?;
            Ok(None)
        },
        clear: |node| values(node).clear(),
    },
    ..Service::named(ID, "readonly values")
};

/// The values of a node.
pub(crate) fn values(node: &Node) -> &ReadonlyValues {
    node.state(ID)
}

/// The message of readonly values between nodes; the values follow.
#[derive(Serialize, Deserialize)]
struct ReadonlyFrame {
    root: NodeId,
    /// Descriptors of the large parts, which are lent by the node that sent the frame.
    nocopy: Vec<CarriedDescriptor>,
}

/// From the main node: tells all nodes the readonly values, and that entries may run, unless they know.
pub(crate) fn open_all(node: &Node) {
    if node.is_open() {
        return;
    }
    if node.topology.nodes() > 1 {
        let root = node.id;
        let told = values(node).encode().map_err(|error| error.to_string()).and_then(|(tail, carried)| {
            let passed = many::PassedOn {
                service: ID,
                carried: &carried,
                tail: many::Tail::Encoded(&tail),
                is_run: false,
            };
            many::pass_on(node, &node.outside, root, passed, |nocopy| ReadonlyFrame { root, nocopy })
        });
        if let Err(cause) = told {
            node.fail(JobError::Config(format!("a readonly value cannot be sent: {cause}")));
        }
    }
    node.open();
}

/// Takes in the values from the node above; when this node has all of them, it passes them on and lets entries run.
fn arrive(node: &Arc<Node>, Arrival { source, said, .. }: Arrival<'_>) -> Result<(), String> {
    let (ReadonlyFrame { root, nocopy }, rest) =
        codec::decode_front(said).map_err(|error| error.to_string())?;
    tree::check_root(node, root)?;
    if !values(node).begin() {
        return Err("readonly values for the second time".to_owned());
    }
    let (arriving, wanted) = Arriving::announced(rest, nocopy)?;
    let encoded = rest.to_vec();
    let what = || "fetching a readonly value".to_owned();
    many::bring_in(node, source, what, wanted, move |node, carried| {
        match values(node).accept(arriving, carried) {
            Ok(carried) => {
                let telling = TreeMessage { service: ID, carried: &carried, is_run: false };
                let tail = many::Tail::Encoded(&encoded);
                tree::tell_children(node, root, telling, tail, |nocopy| ReadonlyFrame { root, nocopy });
                node.open();
            }
            Err(cause) => node.fail(JobError::Undecodable { peer: source, node: node.id, cause }),
        }
        node.outside.processed.add_shared(1);
    })
}
