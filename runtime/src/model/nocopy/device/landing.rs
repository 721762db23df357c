//! Device landings: the device buffers that transfers fill, and how much of each; and those buffers filled, their element type forgotten.

use super::leaving::LeavingDevice;
use crate::model::nocopy::Element;
use chare_device::{DeviceBufferMut, Event, Stream};
use chare_layout::{Layout, Raw};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A device buffer to receive into, and how much of it is to be filled: the whole, its first elements, or what a layout selects, whose
/// packed elements are `P`. A post method gives it by [`Post::post_device`](crate::Post::post_device).
///
/// ```
/// use chare::devices::Software;
/// use chare::{DeviceBufferMut, DeviceLanding, Layout};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Software::default().open();
/// let room = || DeviceBufferMut::<f64>::new(&device, 100);
/// let whole = DeviceLanding::from(room()?);
/// let part = DeviceLanding::first(10, room()?);
/// let column = DeviceLanding::at(&Layout::vector(10, 1, 10)?, room()?);
/// assert_eq!((whole.len(), part.len(), column.len()), (100, 10, 10));
/// # Ok(())
/// # }
/// ```
pub struct DeviceLanding<T: Element, P: Element = T> {
    buffer: DeviceBufferMut<T>,
    /// Packed elements.
    len: usize,
    layout: Option<Arc<Raw>>,
    before: Option<Stream>,
    packed: PhantomData<fn() -> P>,
}

impl<T: Element> DeviceLanding<T> {
    /// The first `len` elements of a buffer; its tail stays untouched.
    ///
    /// # Panics
    /// If the buffer is shorter than that.
    pub fn first(len: usize, buffer: DeviceBufferMut<T>) -> Self {
        assert!(len <= buffer.len(), "the first {len} elements of a buffer of {}", buffer.len());
        Self { buffer, len, layout: None, before: None, packed: PhantomData }
    }
}

impl<T: Element, P: Element> DeviceLanding<T, P> {
    /// The elements of a buffer that a layout selects, in the layout's order; the others stay untouched.
    ///
    /// # Panics
    /// If the layout selects what lies outside the buffer, or an element twice.
    pub fn at(layout: &Layout<T, P>, buffer: DeviceBufferMut<T>) -> Self {
        let checked = layout.check_bounds((buffer.len() * size_of::<T>()) as u64);
        checked
            .and_then(|()| layout.check_target())
            .unwrap_or_else(|error| panic!("a layout of a landing: {error}"));
        let raw = Some(Arc::clone(layout.raw()));
        Self { buffer, len: layout.len(), layout: raw, before: None, packed: PhantomData }
    }

    /// Has a stream wait for the landing, so that the entry need not: it may run while the elements are still on their way on the device,
    /// and what it gives this stream comes after them. Without it, the entry runs when the elements are there. With it, nobody on the host
    /// waits between "received" and the next kernel.
    pub fn before(mut self, stream: &Stream) -> Self {
        self.before = Some(stream.clone());
        self
    }

    /// How many elements are to be filled.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none are.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The whole buffer.
    pub fn into_buffer(self) -> DeviceBufferMut<T> {
        self.buffer
    }

    pub(crate) fn has_layout(&self) -> bool {
        self.layout.is_some()
    }

    pub(crate) fn into_posted(self) -> PostedDevice {
        let Self { buffer, len, layout, before, .. } = self;
        PostedDevice { buffer: buffer.into_bytes(), bytes: len * size_of::<P>(), layout, before }
    }
}

impl<T: Element> From<DeviceBufferMut<T>> for DeviceLanding<T> {
    fn from(buffer: DeviceBufferMut<T>) -> Self {
        Self { len: buffer.len(), buffer, layout: None, before: None, packed: PhantomData }
    }
}

impl<T: Element, P: Element> fmt::Debug for DeviceLanding<T, P> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "DeviceLanding({} elements of {:?})", self.len, self.buffer)
    }
}

/// A posted device buffer and how many bytes of it are to be filled, no more than the sender offers: its first ones, or those that a
/// layout of as many bytes selects.
pub(crate) struct PostedDevice {
    pub(crate) buffer: DeviceBufferMut<u8>,
    pub(crate) bytes: usize,
    pub(crate) layout: Option<Arc<Raw>>,
    /// The stream that waits for the landing in the entry's place.
    pub(crate) before: Option<Stream>,
}

/// A posted device buffer, filled where the layout selects, or up to `len` bytes.
pub(crate) struct DeviceFilled {
    pub(crate) buffer: DeviceBufferMut<u8>,
    pub(crate) layout: Option<Arc<Raw>>,
    pub(crate) len: usize,
    /// The event of the landing, if the entry runs before it.
    pub(crate) landed: Option<Event>,
}

impl DeviceFilled {
    /// What arrived, for a chare that lives elsewhere.
    pub(crate) fn into_leaving(self) -> LeavingDevice {
        let Self { buffer, layout, len, .. } = self;
        let first = || Raw::bytes_of(len as u64).map(Arc::new).ok();
        let layout = layout.or_else(|| (len < buffer.len()).then(first).flatten());
        LeavingDevice { buffer: buffer.freeze(), layout, release: None }
    }
}
