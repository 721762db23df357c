//! What backends share that drive a network by a library of its own: buffers, sleep, how peers part and
//! how their end is noticed, and transfers on their way to them.

pub(crate) mod lifelines;
pub(crate) mod parting;
pub(crate) mod pool;
pub(crate) mod sleeper;
pub(crate) mod wish;
