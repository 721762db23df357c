//! Errors below the runtime, as types that name peer, operation and cure.

use crate::ids::NodeId;
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::Arc;
use thiserror::Error;

/// The world failed: a peer, the kernel or the network. Never "no room" (see [`crate::Refused`]).
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum LrtsError {
    /// A peer's process ended or its connection broke without a goodbye.
    #[error("{peer} was lost over {backend}: {cause}")]
    PeerLost {
        /// The node.
        peer: NodeId,
        /// Over which backend it was noticed.
        backend: &'static str,
        /// What the backend saw.
        cause: String,
    },
    /// A peer sent bytes that no correct peer sends.
    #[error("{peer} sent an invalid {what} over {backend}: {cause}; all nodes must run the same build")]
    Protocol {
        /// The node.
        peer: NodeId,
        /// Over which backend.
        backend: &'static str,
        /// Which thing did not decode.
        what: &'static str,
        /// Why not.
        cause: String,
    },
    /// What arrived as a peer's is not what it sent.
    #[error(
        "what arrived from {peer} over {backend} was changed on the way or forged: its tag is wrong; look for who is between the two hosts, or for failing hardware"
    )]
    Forged {
        /// The node whose connection it arrived on.
        peer: NodeId,
        /// Over which backend.
        backend: &'static str,
    },
    /// A system call failed.
    #[error("{operation} failed on {backend}: {source}{hint}")]
    System {
        /// What was tried.
        operation: &'static str,
        /// On which backend.
        backend: &'static str,
        /// The kernel's answer.
        source: Arc<io::Error>,
        /// What to do about it: empty, or a clause that starts with `; `.
        hint: &'static str,
    },
    /// A peer could not be reached or did not prove that it belongs to the job.
    #[error("cannot connect to {peer} over {backend}: {cause}")]
    Connect {
        /// The node.
        peer: NodeId,
        /// Over which backend.
        backend: &'static str,
        /// Why not.
        cause: String,
    },
    /// The job's start-up exchange failed.
    #[error("start-up failed: {0}")]
    Bootstrap(String),
    /// No path leads to a peer with the options given.
    #[error("no path leads to {peer}: {cause}")]
    Unreachable {
        /// The node.
        peer: NodeId,
        /// Which switches forbid it.
        cause: String,
    },
    /// No network of the wanted kind can carry the job here.
    #[error("{backend} finds no provider: {cause}")]
    NoProvider {
        /// Which backend.
        backend: &'static str,
        /// Why not, and what there is instead.
        cause: String,
    },
    /// A backend name that this build does not know.
    #[error("unknown backend `{name}`; this build has: {known}")]
    UnknownBackend {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// An option that this build could not follow.
    #[error(
        "`{option}`: built without the feature `{feature}`; build the program with `--features chare/{feature}`"
    )]
    MissingFeature {
        /// What was asked for, as users type it.
        option: String,
        /// The feature that has it.
        feature: &'static str,
    },
}

impl LrtsError {
    /// The peer it is about, if it is about one.
    pub fn peer(&self) -> Option<NodeId> {
        match self {
            Self::PeerLost { peer, .. }
            | Self::Protocol { peer, .. }
            | Self::Forged { peer, .. }
            | Self::Connect { peer, .. }
            | Self::Unreachable { peer, .. } => Some(*peer),
            Self::System { .. }
            | Self::Bootstrap(_)
            | Self::NoProvider { .. }
            | Self::UnknownBackend { .. }
            | Self::MissingFeature { .. } => None,
        }
    }
}

/// A get or put that will never succeed as asked. The memory comes back with it.
#[derive(Debug, Error, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum TransferError {
    /// The key names no live region: deregistered, never registered, or forged.
    #[error("the region key for {0} is stale or forged: the region was deregistered or never existed")]
    StaleKey(NodeId),
    /// The bytes asked for lie outside the region.
    #[error("bytes {offset}..{offset}+{len} lie outside the region of {region_len} bytes on {node}")]
    OutOfRange {
        /// The region's node.
        node: NodeId,
        /// First byte asked for.
        offset: u64,
        /// How many.
        len: u64,
        /// How long the region is.
        region_len: u64,
    },
    /// A put into a region registered for reading only.
    #[error("the region on {0} is read-only; register it as a put target to write it")]
    ReadOnly(NodeId),
    /// The local memory is shorter than the transfer.
    #[error("the local buffer has {have} bytes, the transfer needs {need}")]
    LocalTooShort {
        /// Bytes there.
        have: u64,
        /// Bytes needed.
        need: u64,
    },
    /// The kernel refused to copy between the two processes.
    #[error("copying between processes with {node} failed: {cause}")]
    Refused {
        /// The peer.
        node: NodeId,
        /// The kernel's answer.
        cause: String,
    },
    /// Memory of a device, at this end or on the peer, which the paths to the peer do not reach.
    #[error(
        "memory of a device, here or on {0}, is reached by no path between the two: stage it in memory of the host, or carry the job by a network that registers it"
    )]
    DeviceMemory(NodeId),
    /// A get from or put into a region whose bytes do not lie side by side.
    #[error("the region on {0} is filled in place, by its layout: it takes no gets and no puts")]
    FilledInPlace(NodeId),
    /// The peer is gone.
    #[error("{0} was lost before the transfer finished")]
    PeerLost(NodeId),
}
