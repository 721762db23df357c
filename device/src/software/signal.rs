//! Signals of a software device: one atomic word, which the thread of a stream writes once.

use crate::backend::Signal;
use crate::software::shared::Shared;
use crate::words::error::DeviceError;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub(crate) struct SoftwareSignal {
    shared: Arc<Shared>,
    /// Stored once (release) by the stream's thread, after what it did before; loaded (acquire) by whoever asks or waits.
    has_fired: AtomicBool,
    /// When, by the device's time; stored before by the same thread, and loaded behind the other.
    fired_ns: AtomicU64,
}

impl SoftwareSignal {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::clone(shared), has_fired: AtomicBool::new(false), fired_ns: AtomicU64::new(0) }
    }

    pub(crate) fn fire(&self) {
        self.fire_at(self.shared.now_ns());
    }

    /// As [`fire`](Self::fire), at a moment of the device's time, which may be a virtual one.
    pub(crate) fn fire_at(&self, now_ns: u64) {
        self.fired_ns.store(now_ns, Ordering::Relaxed);
        self.has_fired.store(true, Ordering::Release);
        self.shared.notify();
    }

    /// When it has fired, if it has.
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

    fn nanoseconds_since(&self, earlier: &dyn Signal) -> Result<u64, DeviceError> {
        let earlier: &dyn Any = earlier;
        let earlier: &Self = earlier.downcast_ref().expect("both are stamps of one device");
        let [began, over] = [earlier, self].map(|signal| signal.fired_ns().unwrap_or_default());
        Ok(over.saturating_sub(began))
    }
}
