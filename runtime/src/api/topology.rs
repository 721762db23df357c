//! Topology of the job for programs: which PEs are on which node, and which nodes are on which host.

use crate::model::ids::{NodeId, PeId};
use crate::model::topology::Topology;
use crate::pe::Pe;

/// The node of a PE.
///
/// ```
/// use chare::prelude::*;
///
/// let code = chare::Job::in_process(2, 3).run(|| async {
///     assert_eq!(chare::node_of(PeId(4)), NodeId(1));
///     assert_eq!(chare::rank_of(PeId(4)), 1);
///     let mates: Vec<_> = chare::pes_of(NodeId(1)).collect();
///     assert_eq!(mates, [PeId(3), PeId(4), PeId(5)]);
///     assert_eq!(chare::pes_of(chare::my_node()).len(), 3);
///     assert_eq!((chare::my_pe(), chare::my_rank()), (PeId(0), 0));
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// # Panics
/// If the job has no such PE, and outside a job's entries, as all functions here do.
pub fn node_of(pe: PeId) -> NodeId {
    of_pe(pe, Topology::node_of)
}

/// The PE's number among those of its node, from 0 on. See [`node_of`].
///
/// # Panics
/// If the job has no such PE.
pub fn rank_of(pe: PeId) -> u32 {
    of_pe(pe, |topology, pe| topology.rank_of(pe) as u32)
}

/// The number of the PE that runs the caller among those of its node, from 0 on. See [`node_of`].
pub fn my_rank() -> u32 {
    Pe::current(|pe| pe.node.topology.rank_of(pe.id) as u32)
}

/// The PEs of a node, in order; their number is the iterator's `len`. See [`node_of`].
///
/// # Panics
/// If the job has no such node.
pub fn pes_of(node: NodeId) -> impl ExactSizeIterator<Item = PeId> {
    of_node(node, Topology::pes_of)
}

/// The number of the host of a node, among the hosts of the job: nodes of one host could share memory. Under `+nolocal` each node has a
/// host of its own.
///
/// ```
/// use chare::prelude::*;
///
/// let code = chare::Job::in_process(3, 1).run(|| async {
///     let mates = (0..chare::nodes()).map(NodeId).filter(|node| chare::host_of(*node) == chare::host_of(chare::my_node()));
///     assert_eq!((mates.count(), chare::hosts()), (3, 1));
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// # Panics
/// If the job has no such node.
pub fn host_of(node: NodeId) -> u32 {
    of_node(node, Topology::host_of)
}

/// The number of hosts of the job. See [`host_of`].
pub fn hosts() -> u32 {
    Pe::current(|pe| pe.node.topology.hosts())
}

fn of_pe<T>(pe: PeId, find: impl FnOnce(&Topology, PeId) -> T) -> T {
    Pe::current(|current| {
        let topology = &current.node.topology;
        topology.seat_of(pe).map(|pe| find(topology, pe)).unwrap_or_else(|cause| panic!("{cause}"))
    })
}

fn of_node<T>(node: NodeId, find: impl FnOnce(&Topology, NodeId) -> T) -> T {
    Pe::current(|pe| {
        let topology = &pe.node.topology;
        assert!(node.0 < topology.nodes(), "there is no {node}: the job has {} nodes", topology.nodes());
        find(topology, node)
    })
}
