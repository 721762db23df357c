//! Spin lock: for sections of some hundred nanoseconds, on the way of every message.
//!
//! Giving it back is a plain store, where a lock that can put threads to sleep needs a second read-modify-write to find out
//! whether anybody sleeps: some 20 ns of the 200 that a message between processes takes. A waiter spins, then yields.

#![expect(unsafe_code, reason = "implements the raw half of a lock")]

use parking_lot::lock_api::{GuardSend, Mutex, RawMutex};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};

/// Looks before a waiter offers the core to the thread that may hold the lock.
const SPINS: u32 = 100;

/// The lock's one word: whether it is held. The swap that takes it pairs with the store that gave it back.
pub struct RawSpinLock(AtomicBool);

// SAFETY: `swap` returns `false` to one caller at a time, until that one has called `unlock`.
unsafe impl RawMutex for RawSpinLock {
    const INIT: Self = Self(AtomicBool::new(false));

    type GuardMarker = GuardSend;

    fn lock(&self) {
        let mut looks = 0;
        while !self.try_lock() {
            looks += 1;
            if looks % SPINS == 0 { std::thread::yield_now() } else { spin_loop() }
        }
    }

    fn try_lock(&self) -> bool {
        !self.0.load(Ordering::Relaxed) && !self.0.swap(true, Ordering::Acquire)
    }

    unsafe fn unlock(&self) {
        self.0.store(false, Ordering::Release);
    }
}

/// A value behind such a lock.
pub type SpinMutex<T> = Mutex<RawSpinLock, T>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_it_at_a_time() {
        let count = SpinMutex::new(0_u64);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..10_000).for_each(|_| *count.lock() += 1));
            }
        });
        let held = count.lock();
        assert_eq!(*held, 40_000);
        assert!(count.try_lock().is_none());
        drop(held);
        assert!(count.try_lock().is_some());
    }
}
