//! Notes of a node about messages that leave it and arrive at it, and about what is paid for them.

use crate::model::envelope::frame::Packed;
use crate::model::ids::NodeId;

/// What a node notes in its ledger.
#[cfg_attr(not(feature = "sim"), expect(dead_code, reason = "nobody reads it in this build"))]
pub(crate) enum Note<'a> {
    /// A message leaves for another node, or waits to, and costs so many bytes of credit, or nothing.
    Posted { target: NodeId, packed: &'a Packed, price: Option<u32> },
    /// A message of another node has come.
    Taken { source: NodeId, bytes: &'a [u8] },
    /// Credit leaves for the node that it belongs to.
    CreditGiven { target: NodeId, bytes: u64 },
    /// Credit has come back from a node.
    CreditTaken { source: NodeId, bytes: u64 },
}
