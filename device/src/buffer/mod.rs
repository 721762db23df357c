//! Buffers: typed device memory that is safe to copy, because each carries what streams still do with it.
//!
//! 1. A [`DeviceBufferMut`](exclusive::DeviceBufferMut) has one owner. What is done with it, on whichever stream, is done in the order in
//!    which it was asked for.
//! 2. A [`DeviceBuffer`](shared::DeviceBuffer) is read by many, at the same time, and is written by nobody until its last handle is made
//!    exclusive again.
//! 3. No caller waits: a stream that is to go on waits for what another one still does (`order`).

pub(crate) mod batch;
mod computed;
pub(crate) mod copying;
pub(crate) mod exclusive;
pub(crate) mod landed;
pub(crate) mod order;
pub(crate) mod shared;
#[cfg(feature = "cuda")]
mod slice;
