//! Nocopy arguments of a broadcast: brought into each process once, and passed on to the processes below it.
//!
//! ```text
//! sender's node --lent--> node 1 --lent--> node 5     the topology's tree, rooted at the sender's node
//!       |                   |                |
//!    members             members          members     all members of a process share one memory
//! ```
//! The tree enters each host once. So bytes go to another host once, where memory can be mapped: its leader fetches them, and the others
//! map the leader's copy.
//! 1. A node brings each argument in once: the bytes came with the message, or the node reads its parent's memory in place where that can
//!    be mapped, or it fetches the parent's copy with one get.
//! 2. When all arguments are here, the node tells its children and its own members. A child is lent the node's copy; or, where the node
//!    reads in place and the child can map, too, the very key by which the node reads, under a token of its own, so that all processes of
//!    a host map the owner's memory.
//!    What a layout selects goes by key and layout in the same way; it is packed, once, for children that cannot map it and for parameters
//!    that want it side by side.
//! 3. A node sends `Released` to its parent when it has its own copy, its members' posted buffers are full and all its children have sent
//!    `Released`; a node that reads in place sends it only after its members have let go as well. So the sender's completion comes once,
//!    when every process has the data.
//! 4. A member receives a [`Local`], as from a sender in its own process: the rest of the argument's way is that of a call.
//! 5. A node that cannot map an argument which is dealt out is sent the parts that it and the nodes below it need: see `parts.rs`.
//! 6. An argument on a device goes the same way: a node asks its parent for it, and has a view of the parent's buffer or a buffer of its
//!    own, which it offers its children. One that is wanted on the host is staged by its sender, once, and goes on as one of the host.
//!
//! The broadcast of a section differs only in its tree and in its list of members: see [`pass_to`]. A member that has moved away is
//! reached by forwarding its call, whose [`Local`] is then described anew.
//!
//! [`Local`]: crate::model::nocopy::Local

mod bringing;
mod carried;
pub(crate) mod dealt;
mod parts;
mod passing;
mod taking_in;

pub(crate) use bringing::{Wanted, bring_in};
pub(crate) use carried::Carried;
pub(crate) use passing::{PassedOn, Tail, describe, pass_on, pass_to};
pub(crate) use taking_in::take_in;
