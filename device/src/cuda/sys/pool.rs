//! Pool of a device's memory for tables, which streams take from and give back to in their order.

#![expect(unsafe_code, reason = "calls the driver")]

use super::code::Code;
use super::driver::{cuMemPoolCreate, cuMemPoolDestroy, cuMemPoolSetAttribute};
use super::memory::location;
use cudarc::driver::sys::{CUdevice, CUmemAllocationType, CUmemPool_attribute, CUmemPoolProps, CUmemoryPool};

/// A pool that keeps what streams have given back: the device's own gives it to the system whenever somebody waits for the device.
pub(crate) struct Pool(pub(super) CUmemoryPool);

// SAFETY: the driver's handles are process-wide, and its calls may be made by any thread.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

impl Pool {
    pub(crate) fn create(device: CUdevice) -> Result<Self, Code> {
        // SAFETY: zeros are a value of this structure of numbers and pointers: no handles, and no bound.
        let mut properties: CUmemPoolProps = unsafe { std::mem::zeroed() };
        properties.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = location(device);
        let (mut pool, mut keep_bytes) = (std::ptr::null_mut(), u64::MAX);
        let threshold = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the driver reads the structure and writes one handle.
        Code::check(unsafe { cuMemPoolCreate(&raw mut pool, &raw const properties) })?;
        let pool = Self(pool);
        // SAFETY: the pool is alive; for this attribute the driver reads one number of 64 bits.
        Code::check(unsafe { cuMemPoolSetAttribute(pool.0, threshold, (&raw mut keep_bytes).cast()) })?;
        Ok(pool)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: made by this value, and given back once; the driver keeps what streams still use of it.
        let _ = unsafe { cuMemPoolDestroy(self.0) };
    }
}
