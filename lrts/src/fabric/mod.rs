//! What backends share that drive a network by a library of its own: buffers, sleep, the news of a peer's end, and transfers on
//! their way to it.

pub(crate) mod lifelines;
pub(crate) mod pool;
pub(crate) mod sleeper;
pub(crate) mod wish;
