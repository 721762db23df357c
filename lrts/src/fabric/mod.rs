//! What backends share that drive a network by a library of its own: buffers, sleep, and the news of a peer's end.

pub(crate) mod lifelines;
pub(crate) mod pool;
pub(crate) mod sleeper;
