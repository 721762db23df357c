//! Zero-copy parameters and the Direct API. `proxy -> **zerocopy** -> envelope -> location -> outbox`
//!
//! 1. A nocopy argument leaves its process as a [`Descriptor`]: its bytes if they are few (eager), else the key of a
//!    region on the sender's memory (rendezvous).
//! 2. The receiver reads a region in place where it can be mapped, else fetches it with one get, into memory of the
//!    runtime or into what the post method gave. Only then does the entry run.
//! 3. When the receiver no longer needs the region it says `Released`, and how much it took, to the node that sent the descriptor, after what
//!    the entry that dropped it sends; the sender ends the registration and, when its own network has let go of the memory, too
//!    ([`closing`]), hands the buffer back.
//! 4. A broadcast's arguments go down a tree of nodes, see [`carry`].

mod along;
mod arguments;
mod buffer;
mod cache;
pub(crate) mod carry;
pub(crate) mod closing;
mod completion;
pub(crate) mod direct;
mod gathering;
mod handle;
pub(crate) mod lent;
mod outgoing;
mod posts;
pub(crate) mod receive;
mod registered;
mod registration;
pub(crate) mod send;
pub(crate) mod tags;
mod transfers;

pub(crate) use along::Along;
pub(crate) use arguments::Arrived;
pub use arguments::{NocopyArguments, NocopyParameter, Posted, Received};
pub(crate) use buffer::lend_vector;
pub use buffer::{Buffer, BufferMut, Element};
pub use completion::Completion;
pub use handle::{SourceHandle, TargetHandle};
pub(crate) use outgoing::{Leaving, Release};
pub use outgoing::{Outgoing, SendBuffer, Sent};
pub(crate) use posts::Waiting;
pub use posts::{Landing, MatchError, Post, PostRefusal, Posts};
pub use registered::{NotRegistered, RegisteredSource, RegisteredTarget};
pub use registration::Registration;
pub use transfers::Status;
pub(crate) use transfers::Transfers;

use crate::registry::EntryRegistration;
use chare_lrts::{NodeId, RegionKey, Token};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// A nocopy argument between processes.
#[derive(Serialize, Deserialize)]
pub(crate) enum Descriptor {
    /// The bytes themselves.
    Inline { bytes: Along, lender: Option<Lender> },
    /// Where to fetch them, and what to say afterwards.
    Lent { key: RegionKey, token: Token },
}

impl Descriptor {
    /// The node that is told when the argument was taken.
    pub(crate) fn lender(&self) -> Option<NodeId> {
        match self {
            Self::Inline { lender, .. } => lender.map(|lender| lender.node),
            Self::Lent { key, .. } => Some(key.node),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Inline { bytes, .. } => bytes.memory.len(),
            Self::Lent { key, .. } => key.len as usize,
        }
    }
}

/// Bytes that have to be fetched, or read where they are lent.
pub(crate) fn lent_bytes(descriptors: &[Descriptor]) -> u64 {
    let lent = descriptors.iter().filter_map(|descriptor| match descriptor {
        Descriptor::Lent { key, .. } => Some(key.len),
        Descriptor::Inline { .. } => None,
    });
    lent.fold(0, u64::saturating_add)
}

/// Who waits to hear how much of an argument was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Lender {
    pub(crate) node: NodeId,
    pub(crate) token: Token,
}

/// Mostly one: then it costs no allocation of its own.
pub(crate) type Few<T> = SmallVec<[T; 1]>;

/// The nocopy arguments of a call that has any, as far as they have come.
pub(crate) enum Nocopy {
    /// Still in the sender's process.
    Leaving(Few<Leaving>),
    /// In another process, to be fetched.
    Described(Vec<Descriptor>),
    /// Ready for the entry.
    Arrived(Few<Arrived>),
}

impl Nocopy {
    /// Whether they are where the entry takes them from. Those from the same process are, unless there are posts to be filled.
    #[inline]
    pub(crate) fn is_ready(&self, entry: &EntryRegistration) -> bool {
        match self {
            Self::Arrived(_) => true,
            Self::Leaving(_) => !entry.has_posts(),
            Self::Described(_) => false,
        }
    }

    /// Bytes that came from elsewhere and are kept here.
    pub(crate) fn kept_bytes(&self) -> usize {
        let is_inline = |descriptor: &&Descriptor| matches!(descriptor, Descriptor::Inline { .. });
        match self {
            Self::Described(descriptors) => descriptors.iter().filter(is_inline).map(Descriptor::bytes).sum(),
            Self::Arrived(arrived) => arrived.iter().map(Arrived::kept_bytes).sum(),
            Self::Leaving(leaving) => leaving.iter().map(Leaving::kept_bytes).sum(),
        }
    }
}
