//! Takers of what other nodes give of their devices' memory.

use crate::model::nocopy::GivenMemory;
use chare_lrts::NodeId;
use std::sync::Arc;

/// A transfer that waits for what another node gives.
pub(crate) trait Taker<N>: Send + Sync {
    /// Takes a part, or all.
    ///
    /// # Errors
    /// What does not fit what was asked for, in words.
    fn take(self: Arc<Self>, node: &Arc<N>, owner: NodeId, given: GivenMemory) -> Result<(), String>;
}
