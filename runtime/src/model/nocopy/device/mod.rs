//! Device arguments: nocopy values whose elements lie on a device, as callers send them, post methods give room for them, and entries see
//! them.
//!
//! ```text
//! SendDeviceBuffer<T> --> OutgoingDevice --> LeavingDevice --> Arrived --> DeviceReceived<T>, DevicePosted<T>
//! ```

mod frame;
mod handle;
mod landing;
mod leaving;
mod posted;
mod received;
mod refusal;
mod sending;

pub(crate) use frame::{DeviceFrame, DeviceWay, GivenMemory, MappedDevice, NamedMemory};
pub(crate) use handle::RemoteDevice;
pub use handle::{DeviceSourceHandle, DeviceTargetHandle};
pub use landing::DeviceLanding;
pub(crate) use landing::{DeviceFilled, PostedDevice};
pub(crate) use leaving::{LeavingDevice, OutgoingDevice};
pub use posted::DevicePosted;
pub use received::DeviceReceived;
pub(crate) use refusal::DeviceRefusal;
pub use refusal::{DeviceTransferError, DeviceTransferFailed};
pub use sending::{DeviceTransferred, SendDeviceBuffer, SentDevice};
