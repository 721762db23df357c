//! Received device arguments: elements on the receiver's device, as an entry sees them.

use crate::model::nocopy::Element;
use crate::model::nocopy::arrived::{Arrived, ArrivedArgument, NocopyParameter};
use crate::model::nocopy::kind::NocopyKind;
use chare_device::DeviceBuffer;
use std::fmt;
use std::ops::Deref;

/// A `#[nocopy]` argument on the device of the receiver's PE: the sender's own buffer where it lies on the same device, in this process or
/// in another one of this host, else memory of the device that a transfer filled.
///
/// It dereferences to a [`DeviceBuffer`], whose methods order what streams do with it: what the sender's streams still write, the
/// receiver's wait for, and the host for nothing. Keep it as long as you like. The sender is told that its buffer is free when the last
/// handle is dropped and the streams that read it are past that.
pub struct DeviceReceived<T: Element> {
    buffer: DeviceBuffer<T>,
}

impl<T: Element> DeviceReceived<T> {
    /// The elements as a shared device buffer, which can be sent on. No copy; the sender learns of its end as of this one's.
    pub fn into_buffer(self) -> DeviceBuffer<T> {
        self.buffer
    }
}

impl<T: Element> Clone for DeviceReceived<T> {
    fn clone(&self) -> Self {
        Self { buffer: self.buffer.clone() }
    }
}

impl<T: Element> Deref for DeviceReceived<T> {
    type Target = DeviceBuffer<T>;

    fn deref(&self) -> &DeviceBuffer<T> {
        &self.buffer
    }
}

impl<T: Element> fmt::Debug for DeviceReceived<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "DeviceReceived({} elements)", self.len())
    }
}

impl<T: Element> NocopyParameter for DeviceReceived<T> {
    type Element = T;
    const KIND: NocopyKind = NocopyKind::DeviceReceived;

    fn from_arrived(arrived: ArrivedArgument) -> Result<Self, String> {
        let Arrived::Device(buffer) = arrived.0 else {
            return Err("the runtime delivered memory of the host to a parameter of a device".to_owned());
        };
        let buffer = buffer.typed().map_err(|bytes| misfit::<T>(bytes.len()))?;
        Ok(Self { buffer })
    }
}

/// Why bytes of a device are no elements of a type.
pub(super) fn misfit<T>(bytes: usize) -> String {
    let (name, size) = (std::any::type_name::<T>(), size_of::<T>());
    format!("{bytes} bytes of a device are no whole number of `{name}` ({size} bytes each), aligned")
}
