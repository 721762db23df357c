//! Context of a CUDA device: the primary context, entered for each call, whether it is lost, streams that nobody holds any more, and which
//! allocations of other processes it has opened by name.

use crate::cuda::kept::Kept;
use crate::cuda::left::Left;
use crate::cuda::sys::{Code, Name, Primary};
use crate::words::error::DeviceError;
use crate::words::info::Info;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

pub(crate) struct Context {
    info: Arc<Info>,
    primary: Primary,
    /// Written once, by the thread that hears of it first.
    lost: OnceLock<DeviceError>,
    /// Streams that were dropped while they kept memory.
    left: Left<Arc<Kept>>,
    opened: Opened,
}

impl Context {
    pub(crate) fn new(info: Arc<Info>, primary: Primary) -> Self {
        Self { info, primary, lost: OnceLock::new(), left: Left::new(), opened: Opened::default() }
    }

    pub(crate) fn info(&self) -> &Arc<Info> {
        &self.info
    }

    pub(crate) fn primary(&self) -> &Primary {
        &self.primary
    }

    pub(crate) fn opened(&self) -> &Opened {
        &self.opened
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

/// Allocations of other processes that are open: a context opens each once, whoever else wants a part of it.
///
/// Both calls of the driver are made under the lock, so that nobody opens what is being closed.
#[derive(Default)]
pub(crate) struct Opened(Mutex<HashMap<Name, (u64, usize)>>);

impl Opened {
    /// Where an allocation is open, by `open` if it is not; to be [closed](Self::close) once.
    pub(crate) fn open<E>(&self, name: Name, open: impl FnOnce(&Name) -> Result<u64, E>) -> Result<u64, E> {
        let mut opened = self.0.lock();
        if let Some((start, users)) = opened.get_mut(&name) {
            *users += 1;
            return Ok(*start);
        }
        let start = open(&name)?;
        opened.insert(name, (start, 1));
        Ok(start)
    }

    /// One does not use it any more; the last one has it closed by `close`.
    pub(crate) fn close(&self, name: &Name, close: impl FnOnce(u64)) {
        let mut opened = self.0.lock();
        let (start, users) = opened.get_mut(name).expect("who closes it has opened it");
        *users -= 1;
        if *users == 0 {
            close(*start);
            opened.remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allocation_of_another_process_is_opened_once_and_closed_by_the_last() {
        let (opened, one, other) = (Opened::default(), [1; 64], [2; 64]);
        assert_eq!(opened.open(one, |_| Ok::<_, ()>(4096)), Ok(4096));
        assert_eq!(opened.open(one, |_| panic!("a context opens it once")), Ok::<_, ()>(4096));
        assert_eq!(opened.open(other, |_| Err(())), Err(()), "what the driver refuses is not open");
        assert_eq!(opened.open(other, |_| Ok::<_, ()>(8192)), Ok(8192));
        opened.close(&one, |_| panic!("somebody uses it"));
        let mut closed = Vec::new();
        opened.close(&one, |start| closed.push(start));
        opened.close(&other, |start| closed.push(start));
        assert_eq!(closed, [4096, 8192]);
        assert_eq!(opened.open(one, |_| Ok::<_, ()>(64)), Ok(64), "it is opened anew, elsewhere");
    }
}
