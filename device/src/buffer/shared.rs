//! Shared device buffers: elements that many streams read, and nobody writes.

#![expect(unsafe_code, reason = "gives copies to streams that wait for who wrote the memory")]

use crate::buffer::landed::Landed;
use crate::buffer::order::{Last, Order, Uses};
use crate::device::Device;
use crate::memory::arena::Arena;
use crate::memory::mapping::Registrable;
use crate::memory::span::Span;
use crate::method::{Method, Way};
use crate::stream::{Lanes, Stream};
use crate::words::error::DeviceError;
use bytemuck::Pod;
use chare_layout::Plan;
use parking_lot::Mutex;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
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
    /// What is meant of the inner span.
    span: Span,
    elements: PhantomData<T>,
}

struct Inner {
    device: Device,
    span: Span,
    /// Uses from when it was exclusive, and those that it was told of later.
    written: Mutex<Order>,
    read: Mutex<Order>,
    lent: Option<Lent>,
}

/// Who lent the memory, and what is to be called when the last handle of the loan goes.
struct Lent {
    original: Option<Arc<Inner>>,
    end: Box<dyn FnOnce(Uses) + Send + Sync>,
}

impl Inner {
    fn new(device: Device, span: Span, written: Order, lent: Option<Lent>) -> Arc<Self> {
        Arc::new(Self { device, span, written: Mutex::new(written), read: Mutex::default(), lent })
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let Some(Lent { original, end }) = self.lent.take() else { return };
        let read = std::mem::take(self.read.get_mut());
        if let Some(original) = original {
            original.read.lock().join(read.clone());
        }
        end(Uses::new(self.span.clone(), read));
    }
}

impl<T: Pod> DeviceBuffer<T> {
    /// Elements that nobody writes, once `written` is over.
    pub(super) fn of(device: Device, span: Span, written: Order) -> Self {
        Self::all_of(Inner::new(device, span, written, None))
    }

    fn all_of(inner: Arc<Inner>) -> Self {
        let span = inner.span.clone();
        Self { inner, span, elements: PhantomData }
    }

    /// The same memory under another handle, with clones of its own: when the last of them has gone, the handle that was lent goes, then
    /// `end` is called, at once and on that thread, with the uses that streams still have of what was lent.
    pub fn lent(self, end: impl FnOnce(Uses) + Send + Sync + 'static) -> Self {
        let Self { inner, span, .. } = self;
        let (device, written) = (inner.device.clone(), inner.written.lock().clone());
        let lent = Lent { original: Some(inner), end: Box::new(end) };
        Self::all_of(Inner::new(device, span, written, Some(lent)))
    }

    /// The device whose memory it is.
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.span.len() as usize / size_of::<T>()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where it lies, for the user's own kernels, which only read it: launch them between [`before`](Self::before) and
    /// [`after`](Self::after).
    pub fn address(&self) -> u64 {
        self.span.address()
    }

    /// The arena that it lies in, which other processes can map.
    pub fn arena(&self) -> &Arena {
        self.span.arena()
    }

    /// Where in its arena it starts.
    pub fn offset(&self) -> u64 {
        self.span.offset()
    }

    /// Where a network that registers it finds its first byte. The network is ordered with streams by whoever hands it the memory, between
    /// [`before`](Self::before) and the next writer's. Constant time, but for the first part of an arena, which may take a call of the driver.
    ///
    /// # Errors
    /// [`DeviceError::Refused`] where [`Info::is_registrable`](crate::Info::is_registrable) is not set, or of memory that was adopted and the
    /// device's driver cannot say where it is, and [`DeviceError::Lost`].
    pub fn registrable(&self) -> Result<Registrable, DeviceError> {
        self.span.registrable()
    }

    /// Some of its elements, which share its memory and its order.
    ///
    /// # Panics
    /// If there are less.
    pub fn part(&self, range: Range<usize>) -> Self {
        // In elements, which are fewer than bytes: what is beyond 64 bits in bytes must not come round.
        let (start, end, len) = (range.start, range.end, self.len());
        assert!(start <= end && end <= len, "a part of a buffer: elements {start} to {end} of {len}");
        let bytes = (start * size_of::<T>()) as u64..(end * size_of::<T>()) as u64;
        let span = self.span.part(bytes).unwrap_or_else(|error| panic!("a part of a buffer: {error}"));
        Self { inner: Arc::clone(&self.inner), span, elements: PhantomData }
    }

    /// The same memory as bytes.
    pub fn into_bytes(self) -> DeviceBuffer<u8> {
        DeviceBuffer { inner: self.inner, span: self.span, elements: PhantomData }
    }

    /// Has a stream wait for who wrote it, before a kernel is launched there.
    ///
    /// # Errors
    /// [`DeviceError::Foreign`] if it is a stream of another device, and those of [`Stream::wait`].
    pub fn before(&self, on: &Stream) -> Result<(), DeviceError> {
        // Waited for without the lock: who is called by a stream may come here again.
        let written = self.inner.written.lock().clone();
        written.before(on, &self.span)
    }

    /// Has who writes it next wait for what the stream was given so far, and keeps its memory for that.
    ///
    /// # Errors
    /// As for [`before`](Self::before).
    pub fn after(&self, on: &Stream) -> Result<(), DeviceError> {
        on.check_memory(&self.span)?;
        let kept = on.keep(&self.span);
        self.inner.read.lock().beside(on);
        kept
    }

    /// Has who reads it from now on wait for what the stream was given so far: for kernels that were launched to write it before it was
    /// shared. Keeps its memory for that.
    ///
    /// # Errors
    /// As for [`before`](Self::before).
    pub fn written(&self, on: &Stream) -> Result<(), DeviceError> {
        on.check_memory(&self.span)?;
        let kept = on.keep(&self.span);
        self.inner.written.lock().beside(on);
        kept
    }

    /// Copies it to the host. What is longer than the pinned memory is read by [`to_vec`](Self::to_vec).
    ///
    /// # Errors
    /// [`DeviceError::NoRoom`] while the pinned memory is in use, and those of [`Stream::copy`].
    pub fn read(&self, on: &Stream) -> Result<Landed<T>, DeviceError> {
        let landed = self.inner.device.pinned(self.span.len())?;
        self.used(on, |span| {
            // SAFETY: the stream waits for who wrote this memory, and who writes it next waits for the stream; the landed bytes are seen
            // when the command is over.
            unsafe { on.copy(span, &landed.span()) }
        })?;
        Ok(Landed::new(landed, on.record()?))
    }

    /// Copies by a plan to as many bytes of the host as it has, which lie side by side.
    ///
    /// # Errors
    /// [`DeviceError::NoRoom`] while the pinned memory is in use, and those of [`Stream::step`].
    pub fn stage(&self, on: &Stream, plan: &Arc<Plan>) -> Result<Landed<u8>, DeviceError> {
        self.stage_by(Method::OneShot, on, plan)
    }

    /// As [`stage`](Self::stage), by a method that a [`Model`](crate::Model) has chosen. What is given one stream alone is all done on that.
    /// It has landed when [the method's last stream](Method::last) is past it.
    ///
    /// # Errors
    /// Those of [`stage`](Self::stage).
    pub fn stage_by<'a>(
        &self,
        method: Method,
        on: impl Into<Lanes<'a>>,
        plan: &Arc<Plan>,
    ) -> Result<Landed<u8>, DeviceError> {
        let (device, lanes) = (&self.inner.device, on.into());
        let landed = device.pinned(plan.bytes())?;
        self.used(method.touching(lanes), |span| {
            // SAFETY: as in `read`.
            unsafe { method.carry_out(Way::Out, (device, lanes), plan, (span, &landed.span())) }
        })?;
        Ok(Landed::new(landed, method.last(Way::Out, lanes).record()?))
    }

    /// Whether who wrote it is known to be past that, so that who reads it waits for nobody.
    ///
    /// # Errors
    /// [`DeviceError::Lost`].
    pub fn is_written(&self) -> Result<bool, DeviceError> {
        self.inner.written.lock().is_over()
    }

    /// What it is made of, once nobody else has it: its memory, and all that streams still do with it.
    pub(super) fn into_owned(self) -> Result<(Device, Span, Order), Self> {
        let Self { inner, span, .. } = self;
        let mut inner = Arc::try_unwrap(inner).map_err(|inner| Self {
            inner,
            span: span.clone(),
            elements: PhantomData,
        })?;
        if inner.lent.is_some() || span.len() != inner.span.len() {
            return Err(Self { inner: Arc::new(inner), span, elements: PhantomData });
        }
        let mut order = std::mem::take(inner.written.get_mut());
        order.join(std::mem::take(inner.read.get_mut()));
        Ok((inner.device.clone(), span, order))
    }

    /// What commands read.
    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    /// A stream was given a read, which is over when it is that far: who writes it next waits.
    pub(super) fn was_read(&self, on: &Stream, last: Last) {
        self.inner.read.lock().beside_last(on, last);
    }

    /// Has a stream read the memory after who wrote it, and who writes it next after that: also if it was refused, as a part may have been
    /// given.
    pub(super) fn used(
        &self,
        on: &Stream,
        command: impl FnOnce(&Span) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        self.before(on)?;
        let given = command(&self.span);
        self.inner.read.lock().beside(on);
        given
    }
}

impl DeviceBuffer<u8> {
    /// The bytes as elements.
    ///
    /// # Errors
    /// The same bytes, where they are no whole number of elements, each aligned.
    pub fn typed<T: Pod>(self) -> Result<DeviceBuffer<T>, Self> {
        if !is_whole::<T>(&self.span) {
            return Err(self);
        }
        Ok(DeviceBuffer { inner: self.inner, span: self.span, elements: PhantomData })
    }

    /// Memory that somebody else cut from an arena of this device, such as another process whose arena was
    /// [imported](Device::import). `end` is called as by [`lent`](Self::lent).
    ///
    /// # Errors
    /// [`DeviceError::Foreign`] if it is memory of another device.
    ///
    /// # Safety
    /// Nobody writes it until `end` has been called, and the uses that it was given are over; what was written there before is there.
    pub unsafe fn foreign(
        device: &Device,
        span: Span,
        end: impl FnOnce(Uses) + Send + Sync + 'static,
    ) -> Result<Self, DeviceError> {
        device.check_memory(&span)?;
        let lent = Lent { original: None, end: Box::new(end) };
        Ok(Self::all_of(Inner::new(device.clone(), span, Order::default(), Some(lent))))
    }
}

/// Whether bytes are whole elements, each aligned.
pub(super) fn is_whole<T: Pod>(span: &Span) -> bool {
    let (size, alignment) = (size_of::<T>() as u64, align_of::<T>() as u64);
    size > 0 && span.len().is_multiple_of(size) && span.address().is_multiple_of(alignment)
}

impl<T> Clone for DeviceBuffer<T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), span: self.span.clone(), elements: PhantomData }
    }
}

impl<T> fmt::Debug for DeviceBuffer<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "DeviceBuffer({:?})", self.span)
    }
}
