//! Zero-copy parameters and the Direct API. `proxy -> **zerocopy** -> envelope -> location -> outbox`
//!
//! 1. A nocopy argument leaves its process as a [`Descriptor`]: its bytes if they are few (eager), else the key of a
//!    region on the sender's memory (rendezvous).
//! 2. The receiver reads a region in place where it can be mapped, else fetches it with one get, into memory of the
//!    runtime or into what the post method gave. Only then does the entry run.
//! 3. When the receiver no longer needs the region it says `Released` to the node that sent the descriptor; the sender ends
//!    the registration and hands the buffer back.
//! 4. A broadcast's arguments go down a tree of nodes, see [`broadcast`].

mod arguments;
pub(crate) mod broadcast;
mod buffer;
mod closing;
pub(crate) mod direct;
pub(crate) mod receive;
pub(crate) mod send;
mod transfers;

pub(crate) use arguments::{Arrived, Given, Leaving, PostSlot, Release};
pub use arguments::{NocopyArguments, NocopyParameter, Outgoing, Post, Posted, Posts, Received, SendBuffer};
pub use buffer::{Buffer, BufferMut, Element};
pub(crate) use closing::Closing;
pub use transfers::Status;
pub(crate) use transfers::Transfers;

use chare_lrts::RegionKey;
use serde::{Deserialize, Serialize};

/// A nocopy argument between processes.
#[derive(Serialize, Deserialize)]
pub(crate) enum Descriptor {
    /// The bytes themselves; as a buffer, because serde takes a `Vec<u8>` byte by byte.
    Inline(BufferMut<u8>),
    /// Where to fetch them, and what to say afterwards.
    Lent { key: RegionKey, token: u64 },
}

impl Descriptor {
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Inline(bytes) => bytes.len(),
            Self::Lent { key, .. } => key.len as usize,
        }
    }
}

/// The nocopy arguments of a call that has any, as far as they have come.
pub(crate) enum Nocopy {
    /// Still in the sender's process.
    Leaving(Vec<Leaving>),
    /// In another process, to be fetched.
    Described(Vec<Descriptor>),
    /// Ready for the entry.
    Arrived(Vec<Arrived>),
}
