//! Zero-copy on its way: nocopy arguments leave their process as descriptors and come into another one.
//! `proxy -> **zerocopy** -> envelope -> location -> outbox`
//!
//! 1. A nocopy argument leaves its process as a [`Descriptor`](crate::model::nocopy::Descriptor): its bytes if they are few (eager), else the key of a
//!    region on the sender's memory (rendezvous).
//! 2. The receiver reads a region in place where it can be mapped, else fetches it with one get, into memory of the
//!    runtime or into what the post method gave. Only then does the entry run.
//! 3. When the receiver no longer needs the region it says `Released`, and how much it took, to the node that sent the descriptor, after what
//!    the entry that dropped it sends; the sender ends the registration and, when its own network has let go of the memory, too
//!    ([`deregistration`]), hands the buffer back.
//! 4. A broadcast's arguments go down a tree of nodes, see [`carry`].
//!
//! What a user holds of them never stands here: see `model/nocopy` and `api`.

pub(crate) mod carry;
pub(crate) mod deregistration;
mod destination;
mod gathering;
mod posted_call;
pub(crate) mod receive;
pub(crate) mod remote_memory;
pub(crate) mod send;

pub(crate) use destination::Destination;
pub(crate) use posted_call::PostedCall;
