//! Context of a CUDA device: the primary context, entered for each call, whether it is lost, and streams that nobody holds any more.

use crate::cuda::kept::Kept;
use crate::cuda::left::Left;
use crate::cuda::sys::{Code, Primary};
use crate::words::error::DeviceError;
use crate::words::info::Info;
use std::sync::{Arc, OnceLock};

pub(crate) struct Context {
    info: Arc<Info>,
    primary: Primary,
    /// Written once, by the thread that hears of it first.
    lost: OnceLock<DeviceError>,
    /// Streams that were dropped while they kept memory.
    left: Left<Arc<Kept>>,
}

impl Context {
    pub(crate) fn new(info: Arc<Info>, primary: Primary) -> Self {
        Self { info, primary, lost: OnceLock::new(), left: Left::new() }
    }

    pub(crate) fn info(&self) -> &Arc<Info> {
        &self.info
    }

    pub(crate) fn primary(&self) -> &Primary {
        &self.primary
    }

    /// # Errors
    /// [`DeviceError::Lost`] since the device is.
    pub(crate) fn check(&self) -> Result<(), DeviceError> {
        self.lost.get().map_or(Ok(()), |lost| Err(lost.clone()))
    }

    /// Makes the context the thread's, for the calls that follow.
    ///
    /// # Errors
    /// [`DeviceError::Lost`] and [`DeviceError::Refused`].
    pub(crate) fn enter(&self) -> Result<(), DeviceError> {
        self.check()?;
        self.primary.enter().map_err(|code| self.fault("entering the context", code))
    }

    /// What an answer of the driver means; one that will be given for ever loses the device.
    pub(crate) fn fault(&self, operation: &'static str, code: Code) -> DeviceError {
        if !code.is_sticky() {
            return DeviceError::refused(&self.info, operation, code);
        }
        let lost =
            || DeviceError::Lost { device: self.info.to_string(), cause: format!("{operation}: {code}") };
        self.lost.get_or_init(lost).clone()
    }

    /// Keeps what a dropped stream still uses. After the device was closed, it waits for the stream instead.
    pub(crate) fn leave(&self, kept: Arc<Kept>) {
        self.finish(self.left.leave(kept));
    }

    /// Lets go of streams that are past all that they were given. The context must have been entered.
    pub(crate) fn sweep(&self) {
        self.finish(self.left.sweep(|kept| kept.is_past_all()));
    }

    /// Waits for what dropped streams still do, once, when the device goes.
    pub(crate) fn close(&self) {
        self.finish(self.left.close());
    }

    /// Waits for the device, if memory is still in use that nobody is to look after.
    fn finish(&self, in_use: impl IntoIterator<Item = Arc<Kept>>) {
        let in_use: Vec<Arc<Kept>> = in_use.into_iter().collect();
        if !in_use.is_empty() {
            // If the device is lost, nothing uses its memory any more.
            let _ = self.primary.finish();
        }
    }
}
