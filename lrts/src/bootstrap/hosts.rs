//! Hosts: which nodes of a job share one, as all nodes agree on it before the job begins.
//!
//! 1. Who shares a host is decided by who became a neighbour ([`Bootstrap::neighbours`](super::Bootstrap::neighbours)), and by nothing
//!    else: containers of one machine, and network namespaces, share a kernel and need not share memory.
//! 2. Each node says which is the lowest node that it met, itself included. That node names the host.
//! 3. A node's neighbours must say what it says, and nobody else may. Whoever sees it otherwise ends the start, with both names: trees
//!    over hosts would leave nodes out.

use crate::error::LrtsError;
use crate::ids::NodeId;

/// The lowest node on the host of `node`, which is what `node` says to the others.
pub fn lowest(node: NodeId, neighbours: &[NodeId]) -> NodeId {
    neighbours.iter().copied().fold(node, NodeId::min)
}

/// Compares what all nodes said, one after another, with whom `node` met.
///
/// # Errors
/// Two nodes that disagree.
pub fn agree(node: NodeId, neighbours: &[NodeId], said: &[NodeId]) -> Result<(), LrtsError> {
    let own = lowest(node, neighbours);
    for (peer, theirs) in (0..).map(NodeId).zip(said.iter().copied()) {
        let has_met = peer == node || neighbours.contains(&peer);
        if has_met != (theirs == own) {
            return Err(unlike((node, own), (peer, theirs)));
        }
        let of_theirs = said.get(theirs.index()).copied();
        if theirs > peer || of_theirs != Some(theirs) {
            return Err(unlike((peer, theirs), (theirs, of_theirs.unwrap_or(theirs))));
        }
    }
    Ok(())
}

fn unlike((one, its): (NodeId, NodeId), (other, theirs): (NodeId, NodeId)) -> LrtsError {
    LrtsError::Bootstrap(format!(
        "{one} and {other} disagree about who shares a host: to {one} {its} is the first node of its host, to {other} {theirs} is; start all \
         nodes with the same options, and each host's in the same namespaces"
    ))
}

/// Equal for two processes that can reach each other by a unix socket and over loopback: the kernel that runs and its network namespace.
pub(super) fn identity() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let network = std::fs::read_link("/proc/self/ns/net").unwrap_or_default();
    format!("{} {}", boot.trim(), network.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(numbers: &[u32]) -> Vec<NodeId> {
        numbers.iter().copied().map(NodeId).collect()
    }

    #[test]
    fn nodes_that_met_say_the_same() {
        // Hosts {0, 2} and {1, 3, 4}.
        let said = ids(&[0, 1, 0, 1, 1]);
        for (node, neighbours) in [(0, &[2][..]), (2, &[0]), (1, &[3, 4]), (3, &[1, 4]), (4, &[1, 3])] {
            let neighbours = ids(neighbours);
            assert_eq!(lowest(NodeId(node), &neighbours), said[node as usize]);
            assert!(agree(NodeId(node), &neighbours, &said).is_ok());
        }
    }

    #[test]
    fn who_disagrees_is_named() {
        let refused = |node, neighbours: &[u32], said: &[u32]| {
            let error = agree(NodeId(node), &ids(neighbours), &ids(said)).expect_err("they disagree");
            error.to_string()
        };
        // A neighbour that met nobody, as with `+nolocal` on one side; a stranger that claims to have met; islands of others.
        assert!(refused(0, &[1], &[0, 1]).contains("node 0 and node 1 disagree"));
        assert!(refused(0, &[], &[0, 0]).contains("node 0 and node 1 disagree"));
        assert!(refused(0, &[], &[0, 2, 2]).contains("node 1 and node 2 disagree"));
        assert!(refused(0, &[], &[0, 1, 1, 2]).contains("node 3 and node 2 disagree"));
        assert!(refused(0, &[], &[0, 7]).contains("node 1 and node 7 disagree"));
    }
}
