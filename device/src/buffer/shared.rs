#![expect(unsafe_code, reason = "gives copies to streams that wait for who wrote the memory")]
//! Shared device buffers: elements that many streams read, and nobody writes.

use crate::buffer::landed::Landed;
use crate::buffer::order::Order;
use crate::device::Device;
use crate::memory::span::Span;
use crate::stream::Stream;
use crate::words::error::DeviceError;
use bytemuck::Pod;
use parking_lot::Mutex;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Elements on a device that many may read at the same time. Cloning shares.
///
/// ```
/// use chare_device::{DeviceBufferMut, Priority, Software};
/// # fn main() -> Result<(), chare_device::DeviceError> {
/// let device = Software::default().open();
/// let stream = device.stream(Priority::Normal)?;
/// let mut field = DeviceBufferMut::<u64>::new(&device, 10)?;
/// field.write(&stream, &[7; 10])?;
/// let shared = field.freeze();
/// let mut copies = [DeviceBufferMut::new(&device, 10)?, DeviceBufferMut::new(&device, 10)?];
/// for copy in &mut copies {
///     copy.copy_from(&device.stream(Priority::Normal)?, &shared)?;
/// }
/// // The last handle is the owner again, at once; what it writes waits for those who read.
/// let mut field = shared.try_into_mut().expect("nobody else has it");
/// field.write(&stream, &[8; 10])?;
/// # Ok(())
/// # }
/// ```
pub struct DeviceBuffer<T> {
    inner: Arc<Inner>,
    elements: PhantomData<T>,
}

struct Inner {
    device: Device,
    span: Span,
    /// Uses from when it was exclusive.
    written: Order,
    read: Mutex<Order>,
}

impl<T: Pod> DeviceBuffer<T> {
    /// Elements that nobody writes, once `written` is over.
    pub(super) fn of(device: Device, span: Span, written: Order) -> Self {
        let inner = Arc::new(Inner { device, span, written, read: Mutex::default() });
        Self { inner, elements: PhantomData }
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.inner.span.len() as usize / size_of::<T>()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where it lies, for the user's own kernels, which only read it: launch them between [`before`](Self::before) and
    /// [`after`](Self::after).
    pub fn address(&self) -> u64 {
        self.inner.span.address()
    }

    /// Has a stream wait for who wrote it, before a kernel is launched there.
    ///
    /// # Errors
    /// [`DeviceError::Foreign`] if it is a stream of another device, and those of [`Stream::wait`].
    pub fn before(&self, on: &Stream) -> Result<(), DeviceError> {
        self.inner.written.before(on, &self.inner.span)
    }

    /// Has who writes it next wait for what the stream was given so far, and keeps its memory for that.
    ///
    /// # Errors
    /// As for [`before`](Self::before).
    pub fn after(&self, on: &Stream) -> Result<(), DeviceError> {
        on.check_memory(&self.inner.span)?;
        let kept = on.keep(&self.inner.span);
        self.inner.read.lock().beside(on);
        kept
    }

    /// Copies it to the host.
    ///
    /// # Errors
    /// [`DeviceError::NoRoom`] while the pinned memory is in use, and those of [`Stream::copy`].
    pub fn read(&self, on: &Stream) -> Result<Landed<T>, DeviceError> {
        let landed = self.inner.device.pinned(self.inner.span.len())?;
        self.used(on, |span| {
            // SAFETY: the stream waits for who wrote this memory, and who writes it next waits for the stream; the landed bytes are seen
            // when the command is over.
            unsafe { on.copy(span, &landed.span()) }
        })?;
        Ok(Landed::new(landed, on.record()?))
    }

    /// What it is made of, once nobody else has it: its memory, and all that streams still do with it.
    pub(super) fn into_owned(self) -> Result<(Device, Span, Order), Self> {
        let inner = Arc::try_unwrap(self.inner).map_err(|inner| Self { inner, elements: PhantomData })?;
        let mut order = inner.written;
        order.join(inner.read.into_inner());
        Ok((inner.device, inner.span, order))
    }

    /// Has a stream read the memory after who wrote it, and who writes it next after that: also if it was refused, as a part may have been
    /// given.
    pub(super) fn used(
        &self,
        on: &Stream,
        command: impl FnOnce(&Span) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        self.inner.written.before(on, &self.inner.span)?;
        let given = command(&self.inner.span);
        self.inner.read.lock().beside(on);
        given
    }
}

impl<T> Clone for DeviceBuffer<T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), elements: PhantomData }
    }
}

impl<T> fmt::Debug for DeviceBuffer<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "DeviceBuffer({:?})", self.inner.span)
    }
}
