//! Asymmetric memory fences: the two halves of a store-load handshake between working threads and a thread that is about to sleep.
//!
//! 1. Each side stores, passes its fence and loads what the other side stores; at least one of the two sees the other's store.
//! 2. A working thread passes its fence for every message, so that fence is [`light`]: it keeps the compiler from reordering and
//!    costs the processor nothing. A thread that is about to sleep passes [`heavy`]: the kernel makes every running thread of the
//!    process pass a full barrier (`membarrier(2)`, private expedited; some microseconds, which a sleep costs many times over).
//! 3. Where the kernel does not offer that, both halves are full fences.

use std::sync::atomic::{AtomicBool, Ordering, compiler_fence, fence};

/// Whether the kernel passes the barrier for working threads. Set once, by [`prepare`]; a thread that reads the old value passes a
/// full fence, which is always enough.
static KERNEL_HELPS: AtomicBool = AtomicBool::new(false);

/// Registers the process for the kernel's barrier; called before any two threads meet at these fences.
pub(crate) fn prepare() {
    use rustix::thread::{MembarrierCommand, membarrier};
    if membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok() {
        KERNEL_HELPS.store(true, Ordering::Release);
    }
}

/// The fence between the store and the load of a working thread.
#[inline]
pub(crate) fn light() {
    if KERNEL_HELPS.load(Ordering::Relaxed) {
        compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// The fence between the store and the load of a thread that is about to sleep.
pub(crate) fn heavy() {
    use rustix::thread::{MembarrierCommand, membarrier};
    fence(Ordering::SeqCst);
    if KERNEL_HELPS.load(Ordering::Acquire) {
        membarrier(MembarrierCommand::PrivateExpedited).expect("the kernel granted it when it was asked");
    }
}
