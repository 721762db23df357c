//! Shared state of a software device: whether it is lost, and where its threads wait for each other's events.

use crate::words::error::DeviceError;
use crate::words::info::Info;
use parking_lot::{Condvar, Mutex};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// What all threads and all handles of a device know of each other.
pub(crate) struct Shared {
    info: Arc<Info>,
    /// Where the device's time begins, if it is the machine's.
    opened: Instant,
    /// Written once, by the thread that loses it; whoever reads it does so for itself alone.
    lost: OnceLock<DeviceError>,
    /// Held for a moment by who fires an event or loses the device, after it has written the word: so nobody looks, then sleeps past
    /// it.
    waiting: Mutex<()>,
    changed: Condvar,
}

impl Shared {
    pub(crate) fn new(info: Arc<Info>) -> Self {
        Self {
            info,
            opened: Instant::now(),
            lost: OnceLock::new(),
            waiting: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    pub(crate) fn info(&self) -> &Arc<Info> {
        &self.info
    }

    /// The device's time, if it is the machine's.
    pub(crate) fn now_ns(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// # Errors
    /// [`DeviceError::Lost`] since the device is.
    pub(crate) fn check(&self) -> Result<(), DeviceError> {
        self.lost.get().map_or(Ok(()), |lost| Err(lost.clone()))
    }

    /// Loses the device, for good; the first cause stays.
    pub(crate) fn lose(&self, cause: &str) {
        let (device, cause) = (self.info.to_string(), cause.to_owned());
        let _ = self.lost.set(DeviceError::Lost { device, cause });
        self.notify();
    }

    /// Wakes threads that wait for an event, which look again.
    pub(crate) fn notify(&self) {
        drop(self.waiting.lock());
        self.changed.notify_all();
    }

    /// Sleeps until `is_over`, or the device is lost.
    pub(crate) fn sleep_until(&self, is_over: impl Fn() -> bool) {
        let mut waiting = self.waiting.lock();
        while !is_over() && self.check().is_ok() {
            self.changed.wait(&mut waiting);
        }
    }
}
