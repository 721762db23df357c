//! The receiver's side of nocopy arguments in memory of the host: remote memory, which is read in place or fetched, and the gathering of the
//! arguments of one message.

pub(in crate::transfer) mod gathering;
pub(in crate::transfer) mod receive;
pub(crate) mod remote_memory;
