//! Values: device buffers that are serialized by way of the host, and made again on the device of who deserializes them.
//!
//! 1. Serializing copies the elements to the host, a piece of pinned memory at a time, and waits on its thread until they are there: for
//!    whoever wrote them, too. Where no pinned memory is free, the stream is waited for and pieces get shorter.
//! 2. Deserializing writes to new memory of the device that the program names ([`deserialize_by`]): no more than came in bytes. Who uses
//!    the buffer next waits for that, on its stream.
//! 3. Both need no device where nobody serializes: a value that is moved stays what it is.

use crate::buffer::copying::in_pieces;
use crate::buffer::exclusive::DeviceBufferMut;
use crate::buffer::shared::DeviceBuffer;
use crate::device::Device;
use crate::stream::Stream;
use crate::words::error::DeviceError;
use crate::words::info::Priority;
use bytemuck::Pod;
use chare_layout::{Plan, Raw};
use serde::de::{Error as _, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A function that names the device on which the calling thread's values are made, and the stream that writes and reads them.
pub type ValuesBy = fn() -> Result<(Device, Stream), DeviceError>;

/// Written once, by the first who names a function.
static NAMED: OnceLock<ValuesBy> = OnceLock::new();

/// Names the function that is asked where deserialized buffers are to be; once for the process, later ones are ignored. Without it, no
/// buffer is deserialized, and each that is serialized takes a stream of its own. `chare` names one.
///
/// ```
/// use chare_device::{Device, DeviceBuffer, Priority, Software, deserialize_by};
/// use serde::Deserialize;
/// use serde::de::value::{BytesDeserializer, Error};
/// use std::sync::OnceLock;
///
/// static DEVICE: OnceLock<Device> = OnceLock::new();
/// deserialize_by(|| {
///     let device = DEVICE.get_or_init(|| Software::default().open());
///     Ok((device.clone(), device.stream(Priority::Normal)?))
/// });
/// let came = BytesDeserializer::<Error>::new(&[1, 0, 2, 0]);
/// let buffer = DeviceBuffer::<u16>::deserialize(came).expect("two numbers");
/// assert_eq!(buffer.len(), 2);
/// ```
pub fn deserialize_by(named: ValuesBy) {
    // The first one stays.
    let _ = NAMED.set(named);
}

/// What a buffer holds, when who wrote it and the copies are past that.
fn to_host(buffer: &DeviceBuffer<u8>) -> Result<Vec<u8>, DeviceError> {
    let named = NAMED.get().and_then(|named| named().ok());
    let on = named.map(|(_, stream)| stream).filter(|stream| stream.check_memory(buffer.span()).is_ok());
    let on = on.map_or_else(|| buffer.device().stream(Priority::Normal), Ok)?;
    buffer.to_vec(&on)
}

/// A buffer of these bytes, on the named device.
fn from_host(bytes: &[u8]) -> Result<DeviceBufferMut<u8>, DeviceError> {
    let Some(named) = NAMED.get() else {
        let cause = "no program has said on which one values are deserialized".to_owned();
        return Err(DeviceError::NoDevice { cause });
    };
    let (device, on) = named()?;
    let mut buffer = DeviceBufferMut::new(&device, bytes.len())?;
    let whole = Raw::bytes_of(bytes.len() as u64)?;
    in_pieces(&on, bytes.len(), |piece| {
        let mut staged = device.pinned(piece.len() as u64)?;
        staged.bytes().expect("nobody else has a share in new memory").copy_from_slice(&bytes[piece.clone()]);
        let plan = Plan::unpack_range(&whole, piece.start as u64..piece.end as u64)?;
        buffer.unstage(&on, &Arc::new(plan), staged)
    })?;
    Ok(buffer)
}

/// By way of the host. Waits, on the thread that serializes, for who wrote the elements and for their copy; what a codec reads twice is copied
/// twice.
///
/// # Errors
/// What the device says: that it is lost, or has no pinned memory.
impl<T: Pod> Serialize for DeviceBuffer<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = to_host(&self.clone().into_bytes()).map_err(S::Error::custom)?;
        serializer.serialize_bytes(&bytes)
    }
}

/// As for [`DeviceBuffer`].
impl<T: Pod> Serialize for DeviceBufferMut<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Its owner cannot write it before the copies are over, which are waited for here.
        let bytes = to_host(&self.as_shared().into_bytes()).map_err(S::Error::custom)?;
        serializer.serialize_bytes(&bytes)
    }
}

/// On the device that the program names for the thread that deserializes.
///
/// # Errors
/// Bytes that are no whole number of elements, and what the device says: that there is none, or has no memory left.
impl<'de, T: Pod> Deserialize<'de> for DeviceBufferMut<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = deserializer.deserialize_bytes(Bytes)?;
        let len = bytes.len();
        bytes.typed().map_err(|_| {
            let (name, size) = (std::any::type_name::<T>(), size_of::<T>());
            D::Error::custom(format!("{len} bytes are no whole number of `{name}` ({size} bytes each)"))
        })
    }
}

/// As for [`DeviceBufferMut`].
impl<'de, T: Pod> Deserialize<'de> for DeviceBuffer<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        DeviceBufferMut::deserialize(deserializer).map(DeviceBufferMut::freeze)
    }
}

/// The visitor of a buffer's bytes.
struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = DeviceBufferMut<u8>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the bytes of a device buffer")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<DeviceBufferMut<u8>, E> {
        from_host(bytes).map_err(E::custom)
    }
}
