//! Atomics, fences, locks and cells of the model-checked protocols; `tests/model` compiles the same files with loom's.

pub(crate) use crate::base::fence::{heavy, light};
pub(crate) use chare_lrts::sparse::Sparse;
pub(crate) use parking_lot::Mutex;
pub(crate) use std::sync::Arc;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering};

/// A cell as loom has it: reached through pointers, for the length of a closure, so that loom sees which thread holds it.
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    pub(crate) fn with<R>(&self, body: impl FnOnce(*const T) -> R) -> R {
        body(self.0.get())
    }

    pub(crate) fn with_mut<R>(&self, body: impl FnOnce(*mut T) -> R) -> R {
        body(self.0.get())
    }
}
