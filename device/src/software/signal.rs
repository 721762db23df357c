//! Signals of a software device: one atomic word, which the thread of a stream writes once.

use crate::backend::Signal;
use crate::software::shared::Shared;
use crate::words::error::DeviceError;
use std::sync::Arc;
#[cfg(feature = "sim")]
use std::sync::atomic::AtomicU64;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) struct SoftwareSignal {
    shared: Arc<Shared>,
    /// Stored once (release) by the stream's thread, after what it did before; loaded (acquire) by whoever asks or waits.
    has_fired: AtomicBool,
    /// When, in virtual time; stored before by the same thread, and loaded behind the other.
    #[cfg(feature = "sim")]
    fired_ns: AtomicU64,
}

impl SoftwareSignal {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self {
            shared: Arc::clone(shared),
            has_fired: AtomicBool::new(false),
            #[cfg(feature = "sim")]
            fired_ns: AtomicU64::new(0),
        }
    }

    pub(crate) fn fire(&self) {
        self.has_fired.store(true, Ordering::Release);
        self.shared.notify();
    }

    /// As [`fire`](Self::fire), at a moment of virtual time.
    #[cfg(feature = "sim")]
    pub(crate) fn fire_at(&self, now_ns: u64) {
        self.fired_ns.store(now_ns, Ordering::Relaxed);
        self.fire();
    }

    /// When it has fired in virtual time, if it has.
    #[cfg(feature = "sim")]
    pub(crate) fn fired_ns(&self) -> Option<u64> {
        self.has_fired().then(|| self.fired_ns.load(Ordering::Relaxed))
    }

    pub(crate) fn has_fired(&self) -> bool {
        self.has_fired.load(Ordering::Acquire)
    }

    /// Returns when it has fired, or the device is lost.
    pub(crate) fn sleep_until_fired(&self) {
        self.shared.sleep_until(|| self.has_fired());
    }
}

impl Signal for SoftwareSignal {
    fn is_complete(&self) -> Result<bool, DeviceError> {
        self.shared.check()?;
        Ok(self.has_fired())
    }
}
