//! Exclusive device buffers: elements of one owner, which streams write and read one after the other.

#![expect(
    unsafe_code,
    reason = "gives zeros to a stream that is alone with the memory, and takes what others made"
)]

use crate::buffer::order::{Last, Order};
use crate::buffer::shared::{DeviceBuffer, is_whole};
use crate::device::Device;
use crate::memory::mapping::Registrable;
use crate::memory::span::Span;
use crate::stream::Stream;
use crate::words::error::DeviceError;
use bytemuck::Pod;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;

/// Elements on a device that one owner has written and read. There is no reference to them: what the host is to see of them is
/// [`Landed`](crate::Landed).
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
    /// Other processes map it where its maker has allocated it in a way that allows that: in CUDA by `cuMemAlloc`, or by `cuMemCreate` with
    /// descriptors, as PyTorch does with its expandable segments. They map it for each loan, which `chare` does from 1 MiB on; less, what lies in
    /// more than [`PARTS_MAX`](crate::MemoryHandle::PARTS_MAX) allocations, and what comes from a pool of the driver's, is staged.
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
