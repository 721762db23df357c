//! Synchronisation between threads: atomics, a spin lock, and a bell for sleepers.
//!
//! The runtime above uses the lock and the bell, too. The protocols of this crate take their atomics from here, so that `tests/model` can
//! play them with loom's. Nothing here knows nodes, messages or memory of peers.

pub mod bell;
pub mod spin_lock;

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
