//! The atomics of the protocols that are model-checked. `tests/model` compiles the same files with loom's.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering, fence};
