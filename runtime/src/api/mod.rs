//! What users hold: proxies, callbacks, futures, buffers, handles of registered memory, and what an entry can ask of the runtime.
//!
//! Each of these is thin: it says what is wanted to the floor that does it. A message's way and a service's protocol never stand here.

pub(crate) mod array_options;
mod buffers;
mod callbacks;
pub mod completion_detection;
pub(crate) mod context;
pub(crate) mod direct;
mod promise;
pub(crate) mod proxy;
pub(crate) mod registered;
pub(crate) mod several;
pub(crate) mod tasks;
pub(crate) mod when;
