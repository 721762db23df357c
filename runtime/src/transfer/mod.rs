//! Zero-copy transport of nocopy arguments: takes them out of their process as descriptors, and into another process as memory. Here live
//! the steps of sending, receiving, posting and releasing; the types that users hold never do: see `model/nocopy` and `api`.
//! `api/proxy -> **transfer** -> model/envelope -> pe/places -> delivery/outbox -> delivery/outbound -> node/posting -> lrts`
//!
//! 1. A nocopy argument leaves its process as a [`Descriptor`](crate::model::nocopy::Descriptor): its bytes if they are few (eager), else
//!    the key of a region on the sender's memory (rendezvous).
//! 2. The receiver reads a region in place where it can be mapped, else fetches it with one get, into memory of the runtime or into the
//!    buffer that the post method gave. The entry runs only after that.
//! 3. When the receiver no longer needs the region, it sends `Released`, with the number of bytes that it took, to the node that sent the
//!    descriptor. This message follows all messages of the entry that dropped the argument, or one
//!    of them carries it. The sender ends the registration, and hands
//!    the buffer back when its own network has let go of the memory, too (see [`deregistration`]).
//! 4. The arguments of a broadcast go down a tree of nodes, see [`carry`].
//! 5. Of an argument that is dealt out to many, each member gets its part when the call has come to it; see [`dealt`].
//! 6. An argument of which a layout selects a part is copied from there to where it is to be, in one pass; see [`laid_out`].
//! 7. A long pass between memory that both processes map is made by both together; see [`long_copy`] and [`helping`].
//! 8. The only argument of a call, if it is short, needs none of this; see [`eager`].
//! 9. An argument that lies on a device, or is to, goes by streams; see [`device`].

pub(crate) mod arrival;
pub(crate) mod carry;
mod counting;
pub(crate) mod dealt;
pub(crate) mod deregistration;
pub(crate) mod describing;
mod destination;
pub(crate) mod device;
pub(crate) mod eager;
mod gathering;
pub(crate) mod helping;
pub(crate) mod laid_out;
mod long_copy;
mod planned;
mod posted_call;
mod receive;
pub(crate) mod remote_memory;
pub(crate) mod scattered_put;
mod selected_read;
pub(crate) mod send;
mod series;
mod stretches;

pub(crate) use destination::Destination;
pub(crate) use posted_call::{PostedCall, Served};
