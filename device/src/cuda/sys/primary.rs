//! Primary context of a device, and what the driver says of the device.

#![expect(unsafe_code, reason = "loads and calls the driver")]

use super::code::Code;
use super::driver::{
    NAME, cuCtxSetCurrent, cuCtxSynchronize, cuDeviceCanAccessPeer, cuDeviceGet, cuDeviceGetAttribute,
    cuDeviceGetCount, cuDeviceGetName, cuDeviceGetUuid_v2, cuDevicePrimaryCtxRelease_v2,
    cuDevicePrimaryCtxRetain, cuDeviceTotalMem_v2, cuDriverGetVersion, cuInit, library,
};
use cudarc::driver::sys::{CUGPUDirectRDMAWritesOrdering, CUcontext, CUdevice, CUdevice_attribute, CUuuid};
use std::ffi::CStr;
use std::sync::OnceLock;

/// The oldest driver that takes our kernels: their PTX is that of CUDA 11.7.
const VERSION_MIN: i32 = 11_070;

/// Loads the driver, once per process.
///
/// # Errors
/// What is missing, in words for [`NoDevice`](crate::DeviceError::NoDevice).
pub(crate) fn load() -> Result<(), String> {
    static LOADED: OnceLock<Result<(), String>> = OnceLock::new();
    LOADED.get_or_init(start).clone()
}

fn start() -> Result<(), String> {
    let missing = |cause| {
        format!("{NAME} not found: NVIDIA's driver is not installed, or not to be seen here ({cause})")
    };
    library().map_err(missing)?;
    let mut version = 0;
    // SAFETY: the driver is loaded; it writes one number.
    let asked =
        unsafe { Code::check(cuInit(0)).and_then(|()| Code::check(cuDriverGetVersion(&raw mut version))) };
    asked.map_err(|code| format!("{NAME} does not start: {code}"))?;
    if version < VERSION_MIN {
        let text = |version: i32| format!("{}.{}", version / 1000, version % 1000 / 10);
        let (have, need) = (text(version), text(VERSION_MIN));
        return Err(format!("{NAME} is of CUDA {have}, and {need} is needed: update NVIDIA's driver"));
    }
    Ok(())
}

/// What the driver says of a device.
pub(crate) struct Facts {
    pub(crate) name: String,
    pub(crate) uuid: [u8; 16],
    pub(crate) memory_bytes: u64,
    /// The driver's version of CUDA, as it says it.
    pub(crate) driver: String,
    pub(crate) copy_engines: u32,
    /// Whether networks reach its memory by dma-bufs, and its kernels see what they wrote once the host has heard of the end.
    pub(crate) is_registrable: bool,
    /// Whether its memory is exported as descriptors.
    pub(crate) has_descriptors: bool,
    /// The other devices that it reaches, of those that this process sees.
    pub(crate) peers: Vec<[u8; 16]>,
}

/// The primary context of a device, retained once.
pub(crate) struct Primary {
    device: CUdevice,
    context: CUcontext,
}

// SAFETY: the driver's handles are process-wide, and its calls may be made by any thread.
unsafe impl Send for Primary {}
// SAFETY: as above.
unsafe impl Sync for Primary {}

impl Primary {
    /// How many devices there are. The driver must be loaded.
    pub(crate) fn count() -> Result<u32, Code> {
        let mut count = 0;
        // SAFETY: the driver writes one number.
        Code::check(unsafe { cuDeviceGetCount(&raw mut count) })?;
        Ok(count.unsigned_abs())
    }

    /// Retains the context of a device that there is.
    pub(crate) fn retain(ordinal: u32) -> Result<(Self, Facts), Code> {
        let (mut device, mut context) = (0, std::ptr::null_mut());
        // SAFETY: the driver writes one handle each.
        unsafe {
            Code::check(cuDeviceGet(&raw mut device, ordinal as i32))?;
            Code::check(cuDevicePrimaryCtxRetain(&raw mut context, device))?;
        }
        let primary = Self { device, context };
        let facts = primary.facts()?;
        Ok((primary, facts))
    }

    pub(crate) fn device(&self) -> CUdevice {
        self.device
    }

    /// Makes it the thread's.
    pub(crate) fn enter(&self) -> Result<(), Code> {
        // SAFETY: the context is retained until the value is dropped.
        Code::check(unsafe { cuCtxSetCurrent(self.context) })
    }

    /// Waits for all that was given to the device.
    pub(crate) fn finish(&self) -> Result<(), Code> {
        self.enter()?;
        // SAFETY: the context is the thread's.
        Code::check(unsafe { cuCtxSynchronize() })
    }

    fn attribute(&self, attribute: CUdevice_attribute) -> Result<i32, Code> {
        let mut value = 0;
        // SAFETY: the driver writes one number.
        Code::check(unsafe { cuDeviceGetAttribute(&raw mut value, attribute, self.device) })?;
        Ok(value)
    }

    fn is_registrable(&self) -> Result<bool, Code> {
        use CUdevice_attribute::{
            CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED,
            CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED,
            CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING,
        };
        let has_dma_bufs = self.attribute(CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED)? != 0;
        let is_of_ours = self.attribute(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED)? != 0;
        let ordering = self.attribute(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING)?;
        let own_kernels = CUGPUDirectRDMAWritesOrdering::CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER as i32;
        Ok(has_dma_bufs && is_of_ours && ordering >= own_kernels)
    }

    /// Its kernels and copies read and write such devices' memory where that is mapped for it.
    fn peers(&self) -> Result<Vec<[u8; 16]>, Code> {
        let mut peers = Vec::new();
        for ordinal in 0..Self::count()? {
            let (mut other, mut can) = (0, 0);
            // SAFETY: the driver writes one handle and one number.
            unsafe {
                Code::check(cuDeviceGet(&raw mut other, ordinal as i32))?;
                Code::check(cuDeviceCanAccessPeer(&raw mut can, self.device, other))?;
            }
            if can != 0 && other != self.device {
                peers.push(uuid_of(other)?);
            }
        }
        Ok(peers)
    }

    fn facts(&self) -> Result<Facts, Code> {
        let (mut name, mut memory_bytes, mut driver) = ([0; 128], 0, 0);
        // SAFETY: the driver writes no more than it is told, and terminates the name.
        let name = unsafe {
            Code::check(cuDeviceGetName(name.as_mut_ptr(), name.len() as i32, self.device))?;
            Code::check(cuDeviceTotalMem_v2(&raw mut memory_bytes, self.device))?;
            Code::check(cuDriverGetVersion(&raw mut driver))?;
            CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned()
        };
        use CUdevice_attribute::{
            CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT,
            CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
        };
        let engines = self.attribute(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT)?;
        let descriptors = self.attribute(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)?;
        Ok(Facts {
            name,
            uuid: uuid_of(self.device)?,
            memory_bytes: memory_bytes as u64,
            driver: driver.to_string(),
            copy_engines: engines.unsigned_abs(),
            is_registrable: self.is_registrable()?,
            has_descriptors: descriptors != 0,
            peers: self.peers()?,
        })
    }
}

fn uuid_of(device: CUdevice) -> Result<[u8; 16], Code> {
    let mut uuid = CUuuid { bytes: [0; 16] };
    // SAFETY: the driver writes one structure.
    Code::check(unsafe { cuDeviceGetUuid_v2(&raw mut uuid, device) })?;
    Ok(uuid.bytes.map(|byte| byte.to_ne_bytes()[0]))
}

impl Drop for Primary {
    fn drop(&mut self) {
        // SAFETY: retained by this value, once. Whoever made something within holds the value.
        let _ = unsafe { cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}
