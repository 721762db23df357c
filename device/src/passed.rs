//! Passed streams: futures that are over when a stream is that far.
//!
//! 1. Who polls leaves its waker, then asks the event.
//! 2. The stream, when the event is complete or the device is lost, takes the waker and wakes. So it finds a waker, or who polls finds
//!    the event.

use crate::backend::Call;
use crate::event::Event;
use crate::words::error::DeviceError;
use parking_lot::Mutex;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// A wait for a stream, made by [`Stream::passed`](crate::Stream::passed). Its output is an error if the device was lost.
///
/// ```
/// use chare_device::{DeviceBufferMut, Priority, Software};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Software::default().open();
/// let stream = device.stream(Priority::Normal)?;
/// let mut zeros = DeviceBufferMut::<u8>::zeroed(&device, &stream, 10)?;
/// let mut landed = zeros.read(&stream)?;
/// let passed = stream.passed()?;
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// passed.await?;
/// assert_eq!(landed.elements()?, Some(&[0; 10][..]));
/// # Ok::<_, chare_device::DeviceError>(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[must_use = "nobody waits unless it is awaited"]
pub struct Passed {
    event: Event,
    waker: Arc<Mutex<Option<Waker>>>,
}

impl Passed {
    /// A wait for an event, and what to have called behind it.
    pub(crate) fn new(event: Event) -> (Self, Call) {
        let waker = Arc::new(Mutex::new(None::<Waker>));
        let left = Arc::clone(&waker);
        let wake = move || {
            let waker = left.lock().take();
            waker.into_iter().for_each(Waker::wake);
        };
        (Self { event, waker }, Box::new(wake))
    }
}

impl Future for Passed {
    type Output = Result<(), DeviceError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        *self.waker.lock() = Some(context.waker().clone());
        match self.event.is_complete() {
            Ok(false) => Poll::Pending,
            Ok(true) => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl Drop for Passed {
    fn drop(&mut self) {
        self.waker.lock().take();
    }
}

impl fmt::Debug for Passed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Passed({:?})", self.event)
    }
}
