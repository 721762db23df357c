//! Slices of `cudarc`: memory that it has allocated, as a buffer.

#![expect(unsafe_code, reason = "adopts memory and a stream that their owner keeps")]

use crate::buffer::exclusive::DeviceBufferMut;
use crate::device::Device;
use crate::words::error::DeviceError;
use bytemuck::Pod;
use cudarc::driver::result::primary_ctx;
use cudarc::driver::{CudaContext, CudaSlice, DevicePtrMut, DriverError};
use std::sync::Arc;

/// What is done, in errors.
const ADOPTING: &str = "adopting a slice of cudarc";

impl<T: Pod> DeviceBufferMut<T> {
    /// Elements that `cudarc` has allocated: the counterpart of [`from_raw_parts`](Self::from_raw_parts) without a promise. Nothing is
    /// copied. What is done with the buffer waits for what the slice's stream was given so far, and its memory is freed on that stream,
    /// once the last handle is gone and no stream uses it. (It is no [`From`], since a slice does not know which of the handles of
    /// its device is meant, and a device may refuse it.)
    ///
    /// ```no_run
    /// use chare_device::{Cuda, DeviceBufferMut};
    /// use cudarc::driver::CudaContext;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = Cuda::default().open()?;
    /// let made_on = CudaContext::new(device.info().ordinal as usize)?.new_stream()?;
    /// let field = DeviceBufferMut::<f32>::from_slice(&device, made_on.alloc_zeros::<f32>(1000)?)?;
    /// assert_eq!(field.len(), 1000);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Other processes cannot map it, so transfers to them are staged.
    ///
    /// # Errors
    /// [`DeviceError::Refused`] if it is not of this device's primary context, which is what `CudaContext::new` has; [`DeviceError::Lost`].
    /// The slice is dropped then.
    ///
    /// # Panics
    /// If elements have no size.
    pub fn from_slice(device: &Device, mut slice: CudaSlice<T>) -> Result<Self, DeviceError> {
        let refused = |cause: String| DeviceError::refused(device.info(), ADOPTING, cause);
        let is_primary = is_primary(slice.context()).map_err(|error| refused(error.to_string()))?;
        if !is_primary || slice.ordinal() != device.info().ordinal as usize {
            return Err(refused(format!(
                "it is of device {}{}",
                slice.ordinal(),
                if is_primary { "" } else { ", in another context than the primary one" }
            )));
        }
        let (stream, len) = (Arc::clone(slice.stream()), slice.len());
        // The slice's own stream waits for all others that `cudarc` knows to use it.
        let (address, uses) = slice.device_ptr_mut(&stream);
        drop(uses);
        // SAFETY: it is a stream of the device's primary context, and its guard keeps it.
        let made_on = unsafe { device.adopt_stream(stream.cu_stream().cast(), stream)? };
        // SAFETY: the slice has so many elements, is moved into the guard, so that nobody else uses them, and frees them when it is dropped;
        // what its stream still does with them is told of before anything else is.
        let mut buffer = unsafe { Self::from_raw_parts(device, address, len, slice)? };
        buffer.after(&made_on)?;
        Ok(buffer)
    }
}

/// Whether it is the one context of a device that all who ask the driver for the primary one share.
fn is_primary(context: &CudaContext) -> Result<bool, DriverError> {
    let device = context.cu_device();
    // SAFETY: the context's device is one of the driver's; what is retained is released, and only compared meanwhile.
    unsafe {
        let primary = primary_ctx::retain(device)?;
        primary_ctx::release(device)?;
        Ok(primary == context.cu_ctx())
    }
}
