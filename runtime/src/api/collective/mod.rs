//! Collectives of buffers: libraries in the runtime's own language, made of calls, nocopy arguments and parts.

pub(crate) mod exchange;
mod filling;
pub(crate) mod gather;
