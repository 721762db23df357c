//! What backends share that drive a network by a library of its own: buffers, sleep, what peers are told and how they part, and
//! transfers on their way to them.

pub(crate) mod news;
pub(crate) mod parting;
pub(crate) mod peers;
pub(crate) mod pool;
pub(crate) mod remote_operation;
pub(crate) mod sleeper;
