//! The barrier of a store-load handshake between those who work and one who is about to sleep.
//!
//! 1. Each side stores, passes its barrier and loads what the other stores; at least one of them sees the other.
//! 2. Those who work do so for every message, so theirs is [`light`]: it keeps the compiler from reordering and costs the
//!    processor nothing. Who is about to sleep passes [`heavy`]: the kernel makes every thread of the process that runs
//!    pass a full barrier (`membarrier(2)`, private expedited; some microseconds, which a sleep costs many times over).
//! 3. Where the kernel does not offer that, both are fences.

use std::sync::atomic::{AtomicBool, Ordering, compiler_fence, fence};

/// Whether the kernel passes the barrier for those who work. Set once, by [`prepare`]; who reads the old value fences, which is
/// always enough.
static KERNEL_HELPS: AtomicBool = AtomicBool::new(false);

/// Asks the kernel; called before threads meet here.
pub(crate) fn prepare() {
    use rustix::thread::{MembarrierCommand, membarrier};
    if membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok() {
        KERNEL_HELPS.store(true, Ordering::Release);
    }
}

/// Between the store and the load of those who work.
#[inline]
pub(crate) fn light() {
    if KERNEL_HELPS.load(Ordering::Relaxed) {
        compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// Between the store and the load of one who is about to sleep.
pub(crate) fn heavy() {
    use rustix::thread::{MembarrierCommand, membarrier};
    fence(Ordering::SeqCst);
    if KERNEL_HELPS.load(Ordering::Acquire) {
        membarrier(MembarrierCommand::PrivateExpedited).expect("the kernel granted it when it was asked");
    }
}
