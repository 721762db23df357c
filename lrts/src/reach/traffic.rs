//! Traffic: how often each path to a peer was used, and for how many bytes, which `+stats` prints.

use crate::lrts::PathUse;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// All paths to one peer.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PeerUse {
    /// Frames sent.
    pub messages: PathUse,
    /// Memory of the peer lent in place: nothing was copied.
    pub viewed: PathUse,
    /// Gets and puts by one copy within this process, or to and from memory that both nodes map.
    pub copied: PathUse,
    /// Gets and puts copied by the kernel from process to process.
    pub kernel_copied: PathUse,
    /// Gets and puts carried out by the network, without the peer's processor.
    pub one_sided: PathUse,
    /// Gets and puts carried by messages.
    pub emulated: PathUse,
}

/// A count that any thread adds to. Nothing is ordered by it.
#[derive(Default)]
pub(super) struct Count {
    operations: AtomicU64,
    bytes: AtomicU64,
}

impl Count {
    pub(super) fn add(&self, bytes: usize) {
        self.operations.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Takes an operation back that was counted and went another way in the end.
    pub(super) fn take_back(&self, bytes: usize) {
        self.operations.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes as u64, Ordering::Relaxed);
    }

    fn read(&self) -> PathUse {
        PathUse {
            operations: self.operations.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }
}

/// The counts of one peer; its messages are counted by their backend.
#[derive(Default)]
pub(super) struct Traffic {
    pub(super) viewed: Count,
    pub(super) copied: Count,
    pub(super) kernel_copied: Count,
    pub(super) one_sided: Count,
    pub(super) emulated: Count,
}

impl Traffic {
    pub(super) fn read(&self, messages: PathUse) -> PeerUse {
        PeerUse {
            messages,
            viewed: self.viewed.read(),
            copied: self.copied.read(),
            kernel_copied: self.kernel_copied.read(),
            one_sided: self.one_sided.read(),
            emulated: self.emulated.read(),
        }
    }
}

impl fmt::Display for PeerUse {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for (what, PathUse { operations, bytes }) in [
            ("messages", self.messages),
            ("views", self.viewed),
            ("copies", self.copied),
            ("kernel copies", self.kernel_copied),
            ("one-sided transfers", self.one_sided),
            ("emulated transfers", self.emulated),
        ] {
            if operations > 0 {
                write!(out, "{before}{operations} {what} ({bytes} bytes)")?;
                before = ", ";
            }
        }
        if before.is_empty() { out.write_str("unused") } else { Ok(()) }
    }
}
