//! Posted device arguments: device buffers that post methods gave, filled, as an entry sees them.

use super::landing::DeviceFilled;
use super::received::misfit;
use crate::model::nocopy::Element;
use crate::model::nocopy::arrived::{Arrived, ArrivedArgument, NocopyParameter};
use crate::model::nocopy::kind::NocopyKind;
use chare_device::{DeviceBufferMut, DeviceError, Event};
use std::fmt;

/// A `#[nocopy(post)]` argument on a device: the buffer that the post method gave by [`Post::post_device`](crate::Post::post_device),
/// filled from its start, or where the layout of [`DeviceLanding::at`](crate::DeviceLanding::at) says.
///
/// ```
/// use chare::devices::{self, DeviceChoice};
/// use chare::prelude::*;
/// use chare::{DeviceBufferMut, DeviceLanding, DevicePosted, SendDeviceBuffer};
///
/// struct Tile {
///     room: Option<DeviceBufferMut<u32>>,
/// }
///
/// #[chare]
/// impl Tile {
///     #[entry]
///     fn new() -> Self {
///         let device = devices::mine().expect("a software device");
///         Self { room: Some(DeviceBufferMut::new(&device, 8).expect("it has room")) }
///     }
///
///     #[entry]
///     fn take(&mut self, #[nocopy(post)] row: DevicePosted<u32>) {
///         assert_eq!(row.transferred(), 5);
///         self.room = Some(row.into_buffer());
///         chare::exit(0);
///     }
///
///     #[post(take)]
///     fn post_take(&mut self, row: Post<u32>) {
///         let room = self.room.take().expect("one call at a time");
///         row.post_device(DeviceLanding::first(5, room)).expect("the sender offers as many");
///     }
/// }
///
/// let code = chare::Job::in_process(1, 2).device(DeviceChoice::software(1)).run(|| async {
///     let (device, stream) = (devices::mine().expect("a device"), devices::stream().expect("a stream"));
///     let zeros = DeviceBufferMut::<u32>::zeroed(&device, &stream, 5).expect("it has room");
///     TileProxy::create_on(PeId(1)).take(SendDeviceBuffer::from(zeros));
///     std::future::pending::<()>().await;
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
pub struct DevicePosted<T: Element> {
    buffer: DeviceBufferMut<T>,
    transferred: usize,
    landed: Option<Event>,
}

impl<T: Element> DevicePosted<T> {
    /// How many elements the transfer wrote; the rest of the buffer is untouched.
    pub fn transferred(&self) -> usize {
        self.transferred
    }

    /// Whether the elements are there, on the device. They are, when the entry runs, unless the landing was posted
    /// [before](crate::DeviceLanding::before) a stream.
    ///
    /// # Errors
    /// [`DeviceError::Lost`].
    pub fn is_complete(&self) -> Result<bool, DeviceError> {
        self.landed.as_ref().map_or(Ok(true), Event::is_complete)
    }

    /// The whole posted buffer, to be used and posted again. What uses it next, by its methods, comes after the landing.
    pub fn into_buffer(self) -> DeviceBufferMut<T> {
        self.buffer
    }
}

impl<T: Element> fmt::Debug for DevicePosted<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "DevicePosted({} of {} elements)", self.transferred, self.buffer.len())
    }
}

impl<T: Element> NocopyParameter for DevicePosted<T> {
    type Element = T;
    const KIND: NocopyKind = NocopyKind::DevicePosted;

    fn from_arrived(arrived: ArrivedArgument) -> Result<Self, String> {
        let Arrived::DevicePosted(filled) = arrived.0 else {
            return Err("the runtime delivered another buffer to a posted parameter of a device".to_owned());
        };
        let DeviceFilled { buffer, len, landed, .. } = *filled;
        let buffer = buffer.typed().map_err(|bytes| misfit::<T>(bytes.len()))?;
        Ok(Self { buffer, transferred: len / size_of::<T>(), landed })
    }
}
