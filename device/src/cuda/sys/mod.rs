//! Wrappers of the driver's calls: each owns what it made and gives it back. The only place that calls the driver.
//!
//! Whoever makes or uses one of these has entered the context ([`Primary::enter`]) and keeps it; so their methods have no more
//! to promise, except where they touch memory.

mod code;
mod driver;
mod memory;
mod module;
mod primary;
mod stream;

pub(super) use code::Code;
pub(super) use memory::{
    HostMemory, Memory, Name, allocation_at, close_name, descriptor_at, name_at, open_name, owner_of,
    shared_by,
};
pub(super) use module::{Function, Module};
pub(super) use primary::{Primary, load};
pub(super) use stream::{Event, Stream};
