//! Buffers that travel: transfers on every path, parts and several at once, copies that are shared, memory of devices.
//!
//! One executable, because each takes seconds to link. Tests that count what a whole process takes have one of their own.

#[path = "../every_path/mod.rs"]
mod every_path;

mod at_once;
mod busy_owners;
mod devices_across;
mod fields;
mod paths;
mod registered_devices;
mod several;
mod shared_copies;
mod transfers;
