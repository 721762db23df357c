//! Synchronisation between threads: atomics that can be model-checked, a spin lock, and a bell for sleepers.
//!
//! The runtime above uses the lock and the bell, too. The atomics are the real ones, or loom's under `--cfg loom`. Nothing here knows nodes, messages or memory of peers.

pub mod bell;
pub mod spin_lock;

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
