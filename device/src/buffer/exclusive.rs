#![expect(unsafe_code, reason = "gives copies to streams that wait for what others do with the memory")]
//! Exclusive device buffers: elements of one owner, which streams write and read one after the other.

use crate::buffer::landed::Landed;
use crate::buffer::order::{Last, Order};
use crate::buffer::shared::{DeviceBuffer, is_whole};
use crate::device::Device;
use crate::memory::pinned::Pinned;
use crate::memory::registrable::Registrable;
use crate::memory::span::Span;
use crate::method::{Method, Way};
use crate::stream::{Lanes, Stream};
use crate::words::error::DeviceError;
use bytemuck::Pod;
use chare_layout::Plan;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Elements on a device that one owner has written and read. There is no reference to them: what the host is to see of them is
/// [`Landed`].
///
/// ```
/// use chare_device::{Bell, DeviceBufferMut, Priority, Software};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Software::default().open();
/// let (one, other) = (device.stream(Priority::Normal)?, device.stream(Priority::Normal)?);
/// let mut field = DeviceBufferMut::<f32>::new(&device, 100)?;
/// field.write(&one, &[2.5; 100])?;
/// // The other stream waits for the first one; nobody waits here.
/// let mut landed = field.read(&other)?;
///
/// let bell = Bell::new()?;
/// other.ring(&bell)?;
/// bell.wait()?;
/// assert_eq!(landed.elements()?, Some(&[2.5; 100][..]));
/// # Ok(())
/// # }
/// ```
///
/// Dropping it waits for nothing: streams keep the memory that they use.
pub struct DeviceBufferMut<T> {
    device: Device,
    span: Span,
    order: Order,
    elements: PhantomData<T>,
}

impl<T: Pod> DeviceBufferMut<T> {
    /// Room for so many elements, which are whatever was there before. Cost: as [`Device::allocate`].
    ///
    /// # Errors
    /// Those of [`Device::allocate`].
    ///
    /// # Panics
    /// If elements have no size.
    pub fn new(device: &Device, len: usize) -> Result<Self, DeviceError> {
        assert_ne!(size_of::<T>(), 0, "elements of a buffer have a size");
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        let span = device.allocate(bytes)?.span();
        Ok(Self::of(device.clone(), span, Order::default()))
    }

    /// As many elements, of which a stream makes zeros. Cost: as [`new`](Self::new), and a command.
    ///
    /// # Errors
    /// Those of [`new`](Self::new) and [`Stream::zero`].
    ///
    /// # Panics
    /// If elements have no size.
    pub fn zeroed(device: &Device, on: &Stream, len: usize) -> Result<Self, DeviceError> {
        let mut buffer = Self::new(device, len)?;
        buffer.used(on, |span| {
            // SAFETY: nobody else has the memory yet.
            unsafe { on.zero(span) }
        })?;
        Ok(buffer)
    }

    /// Elements in memory that somebody else made, such as a library that allocates by itself: a `CudaSlice` of `cudarc` is its own guard.
    /// `guard` is dropped when no handle of the memory is left and no stream uses it, on any thread: it gives the memory back.
    ///
    /// Other processes cannot map it ([`Arena::export`](crate::Arena::export) is refused), so transfers to them are staged.
    ///
    /// ```
    /// use chare_device::{DeviceBufferMut, Software};
    /// # fn main() -> Result<(), chare_device::DeviceError> {
    /// let device = Software::default().open();
    /// let made = device.allocate(400)?;
    /// // SAFETY: the block has so many bytes, nobody else uses it, and it stays as long as it is the guard.
    /// let field = unsafe { DeviceBufferMut::<f32>::from_raw_parts(&device, made.address(), 100, made)? };
    /// assert_eq!(field.len(), 100);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`DeviceError::Refused`] if the address is no memory of the device, or not aligned for such elements; `guard` is dropped.
    /// [`DeviceError::Lost`].
    ///
    /// # Panics
    /// If elements have no size.
    ///
    /// # Safety
    /// From `address` on there are `len` elements of memory that stays until `guard` is dropped, and that nobody else uses until then; what
    /// streams were given to do with it before is over, or [`after`](Self::after) is called for them first.
    pub unsafe fn from_raw_parts(
        device: &Device,
        address: u64,
        len: usize,
        guard: impl Any + Send + Sync,
    ) -> Result<Self, DeviceError> {
        assert_ne!(size_of::<T>(), 0, "elements of a buffer have a size");
        if !address.is_multiple_of(align_of::<T>() as u64) {
            let cause = format!("address {address:#x} is no multiple of {}", align_of::<T>());
            return Err(DeviceError::refused(device.info(), "adopting memory", cause));
        }
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        let span = device.adopt(address, bytes, Box::new(guard))?;
        Ok(Self::of(device.clone(), span, Order::default()))
    }

    /// Elements of memory that nobody else has, once `order` is over.
    fn of(device: Device, span: Span, order: Order) -> Self {
        Self { device, span, order, elements: PhantomData }
    }

    /// The device whose memory it is.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The same memory as bytes.
    pub fn into_bytes(self) -> DeviceBufferMut<u8> {
        DeviceBufferMut::of(self.device, self.span, self.order)
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.span.len() as usize / size_of::<T>()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where it lies, for the user's own kernels: launch them between [`before`](Self::before) and [`after`](Self::after).
    pub fn address(&self) -> u64 {
        self.span.address()
    }

    /// Where a network that registers it finds its first byte. The network is ordered with streams by whoever hands it the memory, between
    /// [`before`](Self::before) and the next use. Constant time, but for the first part of an arena, which may take a call of the driver.
    ///
    /// # Errors
    /// [`DeviceError::Refused`] where [`Info::is_registrable`](crate::Info::is_registrable) is not set, or of memory that was adopted and the
    /// device's driver cannot say where it is, and [`DeviceError::Lost`].
    pub fn registrable(&self) -> Result<Registrable, DeviceError> {
        self.span.registrable()
    }

    /// Has a stream wait for all that others still do with it, before a kernel is launched there.
    ///
    /// # Errors
    /// [`DeviceError::Foreign`] if it is a stream of another device, and those of [`Stream::wait`].
    pub fn before(&self, on: &Stream) -> Result<(), DeviceError> {
        self.order.before(on, &self.span)
    }

    /// Has all that is done with it from now on wait for what the stream was given so far, and keeps its memory for that.
    ///
    /// # Errors
    /// As for [`before`](Self::before).
    pub fn after(&mut self, on: &Stream) -> Result<(), DeviceError> {
        self.order.before(on, &self.span)?;
        let kept = on.keep(&self.span);
        self.order.after(on);
        kept
    }

    /// Copies elements of the host to it, by way of pinned memory: the slice may be changed at once.
    ///
    /// # Errors
    /// [`DeviceError::Lengths`] if there are not as many, [`DeviceError::NoRoom`] while the pinned memory is in use, and those of
    /// [`Stream::copy`].
    pub fn write(&mut self, on: &Stream, elements: &[T]) -> Result<(), DeviceError> {
        let bytes: &[u8] = bytemuck::cast_slice(elements);
        let mut staged = self.device.pinned(bytes.len() as u64)?;
        staged.bytes().expect("nobody else has a share in new memory").copy_from_slice(bytes);
        self.used(on, |span| {
            // SAFETY: the stream waits for all others that use this memory, and those after it for the stream; the staged bytes are the
            // command's alone, as their only owner goes.
            unsafe { on.copy(&staged.span(), span) }
        })
    }

    /// Copies it to the host.
    ///
    /// # Errors
    /// [`DeviceError::NoRoom`] while the pinned memory is in use, and those of [`Stream::copy`].
    pub fn read(&mut self, on: &Stream) -> Result<Landed<T>, DeviceError> {
        let landed = self.device.pinned(self.span.len())?;
        self.used(on, |span| {
            // SAFETY: as in `write`; the landed bytes are seen when the command is over.
            unsafe { on.copy(span, &landed.span()) }
        })?;
        Ok(Landed::new(landed, on.record()?))
    }

    /// Copies a shared buffer of as many elements to it.
    ///
    /// # Errors
    /// Those of [`Stream::copy`].
    pub fn copy_from(&mut self, on: &Stream, source: &DeviceBuffer<T>) -> Result<(), DeviceError> {
        self.used(on, |target| {
            source.used(on, |source| {
                // SAFETY: the stream waits for all others that use the target, and for who wrote the source, which nobody writes before
                // this is over. An exclusive buffer shares no byte with another one.
                unsafe { on.copy(source, target) }
            })
        })
    }

    /// Copies by a plan from a shared buffer to it.
    ///
    /// # Errors
    /// Those of [`Stream::step`]. If the device refuses, some of it may be written.
    pub fn step_from<S: Pod>(
        &mut self,
        on: &Stream,
        plan: &Arc<Plan>,
        source: &DeviceBuffer<S>,
    ) -> Result<(), DeviceError> {
        self.used(on, |target| {
            source.used(on, |source| {
                // SAFETY: as in `copy_from`.
                unsafe { on.step(plan, source, target) }
            })
        })
    }

    /// Copies by many plans, each from a shared buffer to one of its own: all halos of a turn, which a CUDA device launches together, once for
    /// each length of words, and behind which one event is recorded.
    ///
    /// ```
    /// use chare_device::{DeviceBufferMut, Priority, Software};
    /// use chare_layout::{Layout, Plan};
    /// # use std::sync::Arc;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = Software::default().open();
    /// let stream = device.stream(Priority::Normal)?;
    /// let field = DeviceBufferMut::<f32>::zeroed(&device, &stream, 8 * 8)?.freeze();
    /// let (mut north, mut west) = (DeviceBufferMut::<f32>::new(&device, 8)?, DeviceBufferMut::new(&device, 8)?);
    /// let row = Arc::new(Plan::pack(Layout::<f32>::contiguous(8)?.raw())?);
    /// let column = Arc::new(Plan::pack(Layout::<f32>::vector(8, 1, 8)?.raw())?);
    /// DeviceBufferMut::step_all(&stream, &mut [(&row, &field, &mut north), (&column, &field, &mut west)])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`Stream::step_all`].
    pub fn step_all<S: Pod>(
        on: &Stream,
        steps: &mut [(&Arc<Plan>, &DeviceBuffer<S>, &mut Self)],
    ) -> Result<(), DeviceError> {
        for (_, source, target) in &*steps {
            source.before(on)?;
            target.before(on)?;
        }
        let spans: Vec<_> =
            steps.iter().map(|(plan, source, target)| (*plan, source.span(), &target.span)).collect();
        // SAFETY: the stream waits for all others that use the targets, and for who wrote the sources, which nobody writes before this is
        // over. Each target has one owner, and so shares no byte with another buffer.
        let given = unsafe { on.step_all(&spans) };
        let last = Last::of(on);
        for (_, source, target) in steps {
            source.was_read(on, last.clone());
            target.order.after_last(last.clone());
        }
        given
    }

    /// The elements to be read while their owner looks on: whoever reads has to wait for that before the borrow is over.
    pub(crate) fn as_shared(&self) -> DeviceBuffer<T> {
        DeviceBuffer::of(self.device.clone(), self.span.clone(), self.order.clone())
    }

    /// Gives up writing for sharing. Waits for nothing.
    pub fn freeze(self) -> DeviceBuffer<T> {
        DeviceBuffer::of(self.device, self.span, self.order)
    }

    /// The first `len` elements, and the others: two buffers, each of one owner. Their memory is given back when both are gone.
    ///
    /// # Panics
    /// If there are less.
    pub fn split(self, len: usize) -> (Self, Self) {
        assert!(len <= self.len(), "{len} elements of {}", self.len());
        let at = (len * size_of::<T>()) as u64;
        let part = |range| self.span.part(range).expect("it lies within");
        let (front, back) = (part(0..at), part(at..self.span.len()));
        let front = Self::of(self.device.clone(), front, self.order.clone());
        (front, Self::of(self.device, back, self.order))
    }

    /// One buffer again, if `next` follows it in the same memory.
    ///
    /// # Errors
    /// Both, if it does not.
    pub fn join(mut self, next: Self) -> Result<Self, (Self, Self)> {
        match self.span.join(&next.span) {
            None => Err((self, next)),
            Some(span) => {
                self.order.join(next.order);
                Ok(Self::of(self.device, span, self.order))
            }
        }
    }

    /// What commands write.
    pub(super) fn span(&self) -> &Span {
        &self.span
    }

    /// A stream that has waited for all others was given a write, which is over when it is that far.
    pub(super) fn was_written(&mut self, last: Last) {
        self.order.after_last(last);
    }

    /// Has a stream use the memory after all others, and others after it: also if it was refused, as a part may have been given.
    pub(super) fn used(
        &mut self,
        on: &Stream,
        command: impl FnOnce(&Span) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        self.order.before(on, &self.span)?;
        let given = command(&self.span);
        self.order.after(on);
        given
    }
}

impl DeviceBufferMut<u8> {
    /// The bytes as elements.
    ///
    /// # Errors
    /// The same bytes, where they are no whole number of elements, each aligned.
    pub fn typed<T: Pod>(self) -> Result<DeviceBufferMut<T>, Self> {
        if !is_whole::<T>(&self.span) {
            return Err(self);
        }
        Ok(DeviceBufferMut::of(self.device, self.span, self.order))
    }

    /// Copies by a plan from pinned memory, which is given back to its pool when the command is over.
    ///
    /// # Errors
    /// Those of [`Stream::step`]. If the device refuses, some of it may be written.
    pub fn unstage(&mut self, on: &Stream, plan: &Arc<Plan>, from: Pinned) -> Result<(), DeviceError> {
        self.unstage_by(Method::OneShot, on, plan, from)
    }

    /// As [`unstage`](Self::unstage), by a method that a [`Model`](crate::Model) has chosen. What is given one stream alone is all done on
    /// that. It is over when [the method's last stream](Method::last) is past it.
    ///
    /// # Errors
    /// Those of [`unstage`](Self::unstage).
    pub fn unstage_by<'a>(
        &mut self,
        method: Method,
        on: impl Into<Lanes<'a>>,
        plan: &Arc<Plan>,
        from: Pinned,
    ) -> Result<(), DeviceError> {
        let (device, lanes) = (self.device.clone(), on.into());
        self.used(method.touching(lanes), |span| {
            // SAFETY: as in `write`; nobody else has a share in the pinned memory that could be used to write it, and it goes with the
            // command.
            unsafe { method.carry_out(Way::In, (&device, lanes), plan, (&from.span(), span)) }
        })
    }
}

impl<T: Pod> DeviceBuffer<T> {
    /// The buffer, exclusive again, if this is the last handle. Waits for nothing: what is done with it next waits for those who read.
    ///
    /// # Errors
    /// The same buffer, when another handle is there.
    pub fn try_into_mut(self) -> Result<DeviceBufferMut<T>, Self> {
        self.into_owned().map(|(device, span, order)| DeviceBufferMut::of(device, span, order))
    }
}

impl<T> fmt::Debug for DeviceBufferMut<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "DeviceBufferMut({:?})", self.span)
    }
}
