//! Region keys: names of regions, for peers to reach them by. Allegations: the table of their node decides what is true.

use crate::ids::NodeId;
use serde::{Deserialize, Serialize};

/// What a peer needs to reach a region. Small, serializable, copyable, unguessable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct RegionKey {
    /// The node whose memory it is.
    pub node: NodeId,
    /// Its place in that node's table.
    pub slot: u32,
    /// A random number, fresh for every registration.
    pub generation: u64,
    /// Its length in bytes, as a hint for the reader; the table decides.
    pub len: u64,
}
