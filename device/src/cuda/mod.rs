//! CUDA: devices of NVIDIA, by their driver, which is loaded when one is opened.
//!
//! 1. `libcuda.so.1` is probed before anything else: where it is not, opening a device is an error that says so.
//! 2. Each call makes the device's primary context the thread's; it is retained once for a device.
//! 3. Device memory is made of the driver's virtual memory, so that arenas are exported as descriptors, where the driver
//!    makes them. What others have allocated is exported as it can be (`mapped`).
//!    A descriptor of another device's memory is mapped for this one, where the driver says that both reach each other: access is set for the
//!    mapping, so that no context has to know of its peers.
//! 4. Memory that commands use is kept by their stream until an event behind them has fired (`kept`).
//! 5. Steps by plans are copies and kernels (`kernels`, many at once), which were compiled before: `device/kernels`.
//!
//! The kernels' arithmetic is tested on the host. All else was compiled against the driver's interface and has not yet run on a device.

mod backend;
mod context;
mod kept;
mod kernels;
mod left;
mod mapped;
mod queue;
mod signal;
mod spares;
mod sys;

use crate::cuda::backend::CudaBackend;
use crate::device::Device;
use crate::words::error::DeviceError;

/// What to open as a CUDA device.
///
/// ```
/// use chare_device::{Cuda, DeviceError};
///
/// match Cuda::default().open() {
///     Ok(device) => println!("{}", device.info()),
///     Err(why @ DeviceError::NoDevice { .. }) => println!("{why}"),
///     Err(error) => panic!("{error}"),
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cuda {
    /// Its number, as the driver counts.
    pub ordinal: u32,
    /// Bytes of memory for blocks at most; no more than the device has.
    pub memory_bytes: u64,
    /// Bytes of pinned memory at most.
    pub pinned_bytes: u64,
}

impl Default for Cuda {
    /// The first device, all its memory, and 64 MiB for staging.
    fn default() -> Self {
        Self { ordinal: 0, memory_bytes: u64::MAX, pinned_bytes: 64 << 20 }
    }
}

impl Cuda {
    /// How many devices the driver has found.
    ///
    /// # Errors
    /// [`DeviceError::NoDevice`] where there is no driver.
    pub fn count() -> Result<u32, DeviceError> {
        CudaBackend::count()
    }

    /// Opens the device: loads the driver, retains the context and loads the kernels, which takes the driver a second where it has not
    /// compiled them before.
    ///
    /// # Errors
    /// [`DeviceError::NoDevice`] where there is no driver, none that is new enough, or no such device, and [`DeviceError::Refused`].
    pub fn open(self) -> Result<Device, DeviceError> {
        Ok(Device::new(Box::new(CudaBackend::open(self.ordinal, self.memory_bytes, self.pinned_bytes)?)))
    }
}
