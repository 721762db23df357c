//! Direct transfers of device memory: what of this node's is registered for others to read, and the nodes between which the network has
//! refused it.

use chare_lrts::{NodeId, RegionKey, Token};
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};

/// What a node knows of its direct transfers.
#[derive(Default)]
pub(crate) struct Direct {
    /// Registrations of buffers that other nodes have been told of, by the buffers' tokens.
    shown: Mutex<FxHashMap<Token, RegionKey>>,
    refused: Mutex<FxHashSet<NodeId>>,
}

impl Direct {
    /// Keeps a buffer's registration until it is [taken](Self::take). Returns an older one of the same buffer.
    #[must_use]
    pub(crate) fn keep(&self, token: Token, key: RegionKey) -> Option<RegionKey> {
        self.shown.lock().insert(token, key)
    }

    /// The registration of a buffer, which is to end, if it has one.
    pub(crate) fn take(&self, token: Token) -> Option<RegionKey> {
        self.shown.lock().remove(&token)
    }

    /// Notes that the network does not carry device memory between this node and a peer. Returns whether that is new.
    pub(crate) fn refuse(&self, peer: NodeId) -> bool {
        self.refused.lock().insert(peer)
    }

    /// Whether it is known that the network does not.
    pub(crate) fn is_refused(&self, peer: NodeId) -> bool {
        self.refused.lock().contains(&peer)
    }
}
