//! Collectives of buffers: libraries in the runtime's own language, made of calls, nocopy arguments and parts.

mod agreement;
mod bundle;
pub(crate) mod exchange;
mod filling;
pub(crate) mod gather;
pub(crate) mod gathered;
mod hosts;
mod open_parts;
mod seat;
