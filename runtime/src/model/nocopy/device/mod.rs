//! Device arguments: nocopy values whose elements lie on a device, as callers send them, post methods give room for them, and entries see
//! them.
//!
//! ```text
//! SendDeviceBuffer<T> --> OutgoingDevice --> LeavingDevice --> Arrived --> DeviceReceived<T>, DevicePosted<T>
//! ```

mod frame;
mod handle;
mod landing;
mod posted;
mod received;
mod sending;

pub(crate) use frame::{DeviceFrame, GivenMemory, MappedDevice};
pub(crate) use handle::RemoteDevice;
pub use handle::{DeviceSourceHandle, DeviceTargetHandle};
pub use landing::DeviceLanding;
pub(crate) use landing::PostedDevice;
pub(crate) use posted::DeviceFilled;
pub use posted::DevicePosted;
pub use received::DeviceReceived;
pub(crate) use sending::{LeavingDevice, OutgoingDevice};
pub use sending::{SendDeviceBuffer, SentDevice};

/// Why bytes of a device are no elements of a type.
fn misfit<T>(bytes: usize) -> String {
    let (name, size) = (std::any::type_name::<T>(), size_of::<T>());
    format!("{bytes} bytes of a device are no whole number of `{name}` ({size} bytes each), aligned")
}
