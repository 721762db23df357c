//! Calls of the driver, looked up by name when they are first made, in the library that was probed.
//!
//! 1. An answer is a number: a driver that is newer than the bindings gives some that their enumeration does not have, and a value of it that
//!    is none of its own must not come to be.
//! 2. What else goes over the border is what the bindings say: each call is compared with theirs when this is compiled.
//! 3. A call that the driver does not have answers that it was not found.

#![expect(unsafe_code, reason = "calls the driver")]
#![expect(non_snake_case, reason = "calls have the names of the driver")]
#![expect(clippy::too_many_arguments, reason = "calls have the arguments of the driver")]

use cudarc::driver::sys::{
    CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction,
    CUipcMemHandle, CUmemAccessDesc, CUmemAllocationGranularity_flags, CUmemAllocationHandleType,
    CUmemAllocationProp, CUmemGenericAllocationHandle, CUmemRangeHandleType, CUmodule, CUpointer_attribute,
    CUresult, CUstream, CUstreamCallback, CUuuid,
};
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_ulonglong, c_void};
use std::sync::OnceLock;

/// What the dynamic linker looks for.
pub(super) const NAME: &str = "libcuda.so.1";

/// What a stream calls, with an answer of the driver as a number.
pub(super) type Called = unsafe extern "C" fn(CUstream, u32, *mut c_void);

/// The driver, loaded once per process; it stays loaded.
///
/// # Errors
/// Why it is not, in words.
pub(super) fn library() -> Result<&'static Library, String> {
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    // SAFETY: the driver's initialisers are those of an ordinary C library: they need nothing from us.
    let opened = LIBRARY.get_or_init(|| unsafe { Library::new(NAME) }.map_err(|cause| cause.to_string()));
    opened.as_ref().map_err(Clone::clone)
}

/// The address of a call.
///
/// # Safety
/// `F` is a pointer to a function, as the driver has it by this name.
unsafe fn look_up<F: Copy>(name: &CStr) -> Option<F> {
    // SAFETY: the caller's promise; the library stays loaded.
    library()
        .ok()
        .and_then(|driver| unsafe { driver.get::<F>(name.to_bytes_with_nul()) }.ok())
        .map(|call| *call)
}

/// The type that the bindings have in place of one that takes any number.
macro_rules! bound {
    ($kind:ty) => {
        $kind
    };
    ($kind:ty, $bound:ty) => {
        $bound
    };
}

macro_rules! calls {
    ($(fn $name:ident($($argument:ident: $kind:ty $(as $bound:ty)?),* $(,)?);)*) => { $(
        /// # Safety
        /// As the driver's manual says of the call.
        pub(super) unsafe fn $name($($argument: $kind),*) -> u32 {
            const _: unsafe fn($(bound!($kind $(, $bound)?)),*) -> CUresult = cudarc::driver::sys::$name;
            type Call = unsafe extern "C" fn($($kind),*) -> u32;
            static CALL: OnceLock<Option<Call>> = OnceLock::new();
            const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("a name is one text"),
            };
            // SAFETY: the bindings have the call with the same arguments, and its answer is an enumeration of 32 bits.
            let call = CALL.get_or_init(|| unsafe { look_up::<Call>(NAME) });
            match call {
                // SAFETY: the caller's promise.
                Some(call) => unsafe { call($($argument),*) },
                None => CUresult::CUDA_ERROR_NOT_FOUND as u32,
            }
        }
    )* };
}

calls! {
    fn cuCtxGetStreamPriorityRange(least_priority: *mut c_int, greatest_priority: *mut c_int);
    fn cuCtxSetCurrent(context: CUcontext);
    fn cuCtxSynchronize();
    fn cuDeviceCanAccessPeer(can_access_peer: *mut c_int, device: CUdevice, peer: CUdevice);
    fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int);
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: CUdevice_attribute, device: CUdevice);
    fn cuDeviceGetCount(count: *mut c_int);
    fn cuDeviceGetName(name: *mut c_char, len: c_int, device: CUdevice);
    fn cuDeviceGetUuid_v2(uuid: *mut CUuuid, device: CUdevice);
    fn cuDevicePrimaryCtxRelease_v2(device: CUdevice);
    fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice);
    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice);
    fn cuDriverGetVersion(driver_version: *mut c_int);
    fn cuEventCreate(event: *mut CUevent, flags: c_uint);
    fn cuEventDestroy_v2(event: CUevent);
    fn cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent);
    fn cuEventQuery(event: CUevent);
    fn cuEventRecord(event: CUevent, stream: CUstream);
    fn cuGetErrorName(error: u32 as CUresult, text: *mut *const c_char);
    fn cuGetErrorString(error: u32 as CUresult, text: *mut *const c_char);
    fn cuInit(flags: c_uint);
    fn cuIpcCloseMemHandle(place: CUdeviceptr);
    fn cuIpcGetMemHandle(name: *mut CUipcMemHandle, place: CUdeviceptr);
    fn cuIpcOpenMemHandle_v2(place: *mut CUdeviceptr, name: CUipcMemHandle, flags: c_uint);
    fn cuLaunchKernel(kernel: CUfunction, grid_dim_x: c_uint, grid_dim_y: c_uint, grid_dim_z: c_uint, block_dim_x: c_uint, block_dim_y: c_uint, block_dim_z: c_uint, shared_mem_bytes: c_uint, stream: CUstream, kernel_params: *mut *mut c_void, extra: *mut *mut c_void);
    fn cuMemAddressFree(place: CUdeviceptr, size: usize);
    fn cuMemAddressReserve(place: *mut CUdeviceptr, size: usize, alignment: usize, near: CUdeviceptr, flags: c_ulonglong);
    fn cuMemCreate(handle: *mut CUmemGenericAllocationHandle, size: usize, properties: *const CUmemAllocationProp, flags: c_ulonglong);
    fn cuMemExportToShareableHandle(shareable_handle: *mut c_void, handle: CUmemGenericAllocationHandle, handle_type: CUmemAllocationHandleType, flags: c_ulonglong);
    fn cuMemFreeHost(start: *mut c_void);
    fn cuMemGetAddressRange_v2(start: *mut CUdeviceptr, size: *mut usize, place: CUdeviceptr);
    fn cuMemGetAllocationGranularity(granularity: *mut usize, properties: *const CUmemAllocationProp, option: CUmemAllocationGranularity_flags);
    fn cuMemGetHandleForAddressRange(handle: *mut c_void, place: CUdeviceptr, size: usize, handle_type: CUmemRangeHandleType, flags: c_ulonglong);
    fn cuMemHostAlloc(start: *mut *mut c_void, bytes: usize, flags: c_uint);
    fn cuMemImportFromShareableHandle(handle: *mut CUmemGenericAllocationHandle, os_handle: *mut c_void, sh_handle_type: CUmemAllocationHandleType);
    fn cuMemMap(place: CUdeviceptr, size: usize, offset: usize, handle: CUmemGenericAllocationHandle, flags: c_ulonglong);
    fn cuMemRelease(handle: CUmemGenericAllocationHandle);
    fn cuMemRetainAllocationHandle(handle: *mut CUmemGenericAllocationHandle, place: *mut c_void);
    fn cuMemSetAccess(place: CUdeviceptr, size: usize, desc: *const CUmemAccessDesc, count: usize);
    fn cuMemUnmap(place: CUdeviceptr, size: usize);
    fn cuMemcpy2DAsync_v2(copy: *const CUDA_MEMCPY2D, stream: CUstream);
    fn cuMemcpy3DAsync_v2(copy: *const CUDA_MEMCPY3D, stream: CUstream);
    fn cuMemcpyAsync(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize, stream: CUstream);
    fn cuMemsetD8Async(dst_device: CUdeviceptr, byte: c_uchar, bytes: usize, stream: CUstream);
    fn cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char);
    fn cuModuleLoadData(module: *mut CUmodule, image: *const c_void);
    fn cuModuleUnload(module: CUmodule);
    fn cuPointerGetAttribute(data: *mut c_void, attribute: CUpointer_attribute, place: CUdeviceptr);
    fn cuStreamAddCallback(stream: CUstream, callback: Called as CUstreamCallback, user_data: *mut c_void, flags: c_uint);
    fn cuStreamCreateWithPriority(stream: *mut CUstream, flags: c_uint, priority: c_int);
    fn cuStreamDestroy_v2(stream: CUstream);
    fn cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint);
}
