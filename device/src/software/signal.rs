//! Signals of a software device: one atomic word, which the thread of a stream writes once.

use crate::backend::Signal;
use crate::software::shared::Shared;
use crate::words::error::DeviceError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) struct SoftwareSignal {
    shared: Arc<Shared>,
    /// Stored once (release) by the stream's thread, after what it did before; loaded (acquire) by whoever asks or waits.
    has_fired: AtomicBool,
}

impl SoftwareSignal {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::clone(shared), has_fired: AtomicBool::new(false) }
    }

    pub(crate) fn fire(&self) {
        self.has_fired.store(true, Ordering::Release);
        self.shared.notify();
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
