//! Synchronisation between threads: atomics, a spin lock, a bell for sleepers, and a table whose entries are made at first use.
//!
//! The runtime above uses the lock, the bell and the table, too. The protocols of this crate take their atomics from here, so that `tests/model` can
//! play them with loom's. Nothing here knows nodes, messages or memory of peers.

pub mod bell;
pub mod sparse;
pub mod spin_lock;

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering, fence};
