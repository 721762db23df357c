//! Events: how far a stream is, asked without waiting.

use crate::backend::Signal;
use crate::words::error::DeviceError;
use crate::words::info::Info;
use std::fmt;
use std::sync::Arc;

/// A point in a stream. Clones are the same point.
#[derive(Clone)]
pub struct Event {
    owner: Arc<Info>,
    signal: Arc<dyn Signal>,
}

impl fmt::Debug for Event {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Event({})", self.owner)
    }
}

impl Event {
    pub(crate) fn new(owner: &Arc<Info>, signal: Arc<dyn Signal>) -> Self {
        Self { owner: Arc::clone(owner), signal }
    }

    /// Whether the stream has done all that was given to it before. What it wrote to pinned memory is then seen by who asked, and
    /// its commands have given up their shares in memory.
    ///
    /// # Errors
    /// [`DeviceError::Lost`]: it will never be complete.
    pub fn is_complete(&self) -> Result<bool, DeviceError> {
        self.signal.is_complete()
    }

    /// Nanoseconds on the device from an earlier point to this one, both of which the device is past; for [stamps](crate::Stream::stamp) of it.
    pub(crate) fn nanoseconds_since(&self, earlier: &Self) -> Result<u64, DeviceError> {
        self.signal.nanoseconds_since(&*earlier.signal)
    }

    /// Whether both are the same point.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.signal, &other.signal)
    }

    pub(crate) fn owner(&self) -> &Arc<Info> {
        &self.owner
    }

    pub(crate) fn signal(&self) -> &Arc<dyn Signal> {
        &self.signal
    }
}
