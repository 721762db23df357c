//! Fabric: a network that has one-sided access besides messages, and which transfers take it.
//!
//! Short ones do not: a copy at either end costs less than asking for access first.

#[cfg(any(feature = "ofi", feature = "verbs", feature = "mpi", feature = "sim"))]
use crate::emulated::Emulated;
use crate::ids::NodeId;
#[cfg(any(feature = "ofi", feature = "verbs", feature = "sim"))]
use crate::leased::{Leased, lease_bytes_min};
use crate::lrts::{Lrts, PathUse};
#[cfg(feature = "mpi")]
use crate::mpi::{MATCHED_BYTES_MIN, Mpi};
#[cfg(any(feature = "ofi", feature = "verbs", feature = "mpi", feature = "sim"))]
use crate::wrappers::Wrapped;

/// A network that carries messages, with both ways to move memory.
pub(super) trait Fabric: Send + Sync {
    /// Messages, and memory by messages.
    fn carrier(&self) -> &dyn Lrts;
    /// Memory by one-sided access.
    fn direct(&self) -> &dyn Lrts;
    /// Shorter transfers go by messages.
    fn direct_bytes_min(&self) -> usize;
    /// Frames that a peer was sent.
    fn sent(&self, peer: NodeId) -> PathUse;
    /// Which network it is, in words.
    fn describe(&self) -> String;
    /// How it moves memory by itself, in words.
    fn own_way(&self) -> &'static str;
    /// Drives it until `is_over`, if no other thread may; else returns at once.
    fn attend(&self, _is_over: &dyn Fn() -> bool) {}
}

#[cfg(any(feature = "ofi", feature = "verbs", feature = "sim"))]
impl Fabric for Emulated<Wrapped<Leased>> {
    fn carrier(&self) -> &dyn Lrts {
        self
    }

    fn direct(&self) -> &dyn Lrts {
        self.inner()
    }

    fn direct_bytes_min(&self) -> usize {
        lease_bytes_min()
    }

    fn sent(&self, peer: NodeId) -> PathUse {
        self.inner().bare().sent(peer)
    }

    fn describe(&self) -> String {
        let inner = self.inner();
        format!("{} ({}){}", inner.name(), inner.bare().label(), inner.guard())
    }

    fn own_way(&self) -> &'static str {
        "one-sided access"
    }
}

#[cfg(feature = "mpi")]
impl Fabric for Emulated<Wrapped<Mpi>> {
    fn carrier(&self) -> &dyn Lrts {
        self
    }

    fn direct(&self) -> &dyn Lrts {
        self.inner()
    }

    fn direct_bytes_min(&self) -> usize {
        MATCHED_BYTES_MIN
    }

    fn sent(&self, peer: NodeId) -> PathUse {
        self.inner().bare().sent(peer)
    }

    fn describe(&self) -> String {
        format!("mpi ({}){}", self.inner().bare().description(), self.inner().guard())
    }

    fn own_way(&self) -> &'static str {
        "matched messages"
    }

    fn attend(&self, is_over: &dyn Fn() -> bool) {
        self.inner().bare().attend(is_over);
    }
}
