//! The interface for users: proxies, callbacks, futures, buffers, handles of registered memory, and the functions that an entry method
//! calls.
//!
//! Every file here is thin: it turns a user's request into calls of the floors below. A message's way and a service's protocol never
//! stand here.

pub(crate) mod again;
pub(crate) mod array_options;
pub(crate) mod balancing;
mod buffers;
mod callbacks;
pub(crate) mod collective;
pub mod completion_detection;
pub(crate) mod context;
pub(crate) mod deadline;
pub mod devices;
pub(crate) mod direct;
pub(crate) mod direct_device;
pub(crate) mod io;
pub(crate) mod job_handle;
pub(crate) mod moving;
mod promise;
pub(crate) mod proxy;
pub(crate) mod registered;
pub(crate) mod registered_device;
pub(crate) mod select;
pub mod sim;
pub(crate) mod tags;
pub(crate) mod tasks;
pub(crate) mod time;
pub(crate) mod topology;
pub mod trace;
pub(crate) mod when;
