//! Zero-copy transport of nocopy arguments: takes them out of their process as descriptors, and into another process as memory. Here live
//! the steps of sending, receiving, posting and releasing; the types that users hold never do: see `model/nocopy` and `api`.
//! `api/proxy -> **transfer** -> model/envelope -> pe/places -> delivery/outbox -> delivery/outbound -> node/posting -> lrts`
//!
//! 1. A nocopy argument leaves its process as a [`Descriptor`](crate::model::nocopy::Descriptor): its bytes if they are few (eager), else
//!    the key of a region on the sender's memory (rendezvous).
//! 2. The receiver reads a region in place where it can be mapped, else fetches it with one get, into memory of the runtime or into the
//!    buffer that the post method gave. The entry runs only after that.
//! 3. When the receiver no longer needs the region, it sends `Released`, with the number of bytes that it took, to the node that sent the
//!    descriptor. Of a region that was read in place, this message follows all messages of the entry that dropped the argument, or one of
//!    them carries it; of one that was fetched, it goes when the bytes are here. The sender ends the registration, and hands the buffer back
//!    when its own network has let go of the memory, too (see [`lend::deregistration`]).
//! 4. The arguments of a broadcast go down a tree of nodes, see [`many`].
//! 5. Of an argument that is dealt out to many, each member gets its part when the call has come to it; see [`many::dealt`].
//! 6. An argument of which a layout selects a part is copied from there to where it is to be, in one pass; see [`copy::laid_out`].
//! 7. A long pass between memory that both processes map is made by both together; see [`copy::long_copy`] and
//!    [`copy::helping`].
//! 8. The only argument of a call, if it is short, needs none of this; see [`lend::eager`].
//! 9. An argument that lies on a device, or is to, goes by streams; see [`device`].
//!
//! Which way an argument takes is decided in [`ways`], and nowhere else; by which path its bytes come, a mapping, the kernel, a network or
//! messages, is decided in `lrts/src/reach/paths.rs`.
//!
//! Its rooms: [`lend`] for the sender's side, [`take`] for the receiver's, [`copy`] for copies by layouts and long ones, [`device`] for what
//! lies on a device, [`many`] for what goes to many. [`describing`] is the door out, [`arrival`] the door in; a [`PostedCall`] waits there.

pub(crate) mod arrival;
pub(crate) mod copy;
pub(crate) mod describing;
pub(crate) mod device;
pub(crate) mod lend;
pub(crate) mod many;
mod posted_call;
pub(crate) mod take;
pub(crate) mod ways;

pub(crate) use arrival::Destination;
pub(crate) use posted_call::{PostedCall, Served};
