//! Streams and events of the driver.

#![expect(unsafe_code, reason = "calls the driver")]

use super::code::Code;
use super::driver::{
    cuCtxGetStreamPriorityRange, cuEventCreate, cuEventDestroy_v2, cuEventElapsedTime, cuEventQuery,
    cuEventRecord, cuLaunchKernel, cuMemcpy2DAsync_v2, cuMemcpy3DAsync_v2, cuMemcpyAsync, cuMemsetD8Async,
    cuStreamAddCallback, cuStreamCreateWithPriority, cuStreamDestroy_v2, cuStreamWaitEvent,
};
use super::module::Function;
use crate::backend::{Call, Rows};
use cudarc::driver::sys::{
    CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUevent, CUevent_flags, CUmemorytype, CUstream, CUstream_flags,
};
use std::any::Any;
use std::ffi::c_void;

/// A stream. Dropping it waits for nothing: the driver does what it was given.
pub(crate) struct Stream {
    raw: CUstream,
    /// What keeps a stream that somebody else made, and gives it back.
    guard: Option<Box<dyn Any + Send + Sync>>,
}

/// A point in a stream, once it was recorded.
pub(crate) struct Event(CUevent);

// SAFETY: the driver's handles are process-wide, and its calls may be made by any thread.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}
// SAFETY: as above.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

/// Calls it, on a thread of the driver, which must not call the driver.
unsafe extern "C" fn called(_stream: CUstream, _status: u32, call: *mut c_void) {
    // SAFETY: `Stream::call` leaked this box for this one call.
    let call = unsafe { Box::from_raw(call.cast::<Call>()) };
    call();
}

impl Stream {
    /// A stream that waits for no other one unless it is told to.
    pub(crate) fn new(is_first: bool) -> Result<Self, Code> {
        let (mut least, mut greatest, mut stream) = (0, 0, std::ptr::null_mut());
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: the driver writes two numbers and one handle.
        unsafe {
            Code::check(cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest))?;
            let priority = if is_first { greatest } else { least };
            Code::check(cuStreamCreateWithPriority(&raw mut stream, flags, priority))?;
        }
        Ok(Self { raw: stream, guard: None })
    }

    /// A stream that somebody else made.
    ///
    /// # Safety
    /// It is a stream of the context that was entered, until `guard` is dropped.
    pub(crate) unsafe fn adopted(raw: *mut c_void, guard: Box<dyn Any + Send + Sync>) -> Self {
        Self { raw: raw.cast(), guard: Some(guard) }
    }

    /// The driver's name of it.
    pub(crate) fn raw(&self) -> *mut c_void {
        self.raw.cast()
    }

    /// # Safety
    /// Until the stream is past it, both ranges are mapped, nobody else writes what is read or touches what is written, and they
    /// share no byte.
    pub(crate) unsafe fn copy(&self, source: u64, target: u64, bytes: u64) -> Result<(), Code> {
        // SAFETY: the caller's promise; all addresses are of one space.
        Code::check(unsafe { cuMemcpyAsync(target, source, bytes as usize, self.raw) })
    }

    /// Copies rows between the device and pinned memory, by one copy of two dimensions, or of three where there are several planes.
    ///
    /// # Safety
    /// As for [`copy`](Self::copy), for the rows from both addresses on.
    pub(crate) unsafe fn copy_rows(&self, rows: Rows, source: u64, target: u64) -> Result<(), Code> {
        // All addresses are of one space: the driver finds out which of the two is the host's.
        if rows.planes > 1 {
            let copy = CUDA_MEMCPY3D {
                srcXInBytes: 0,
                srcY: 0,
                srcZ: 0,
                srcLOD: 0,
                srcMemoryType: CUmemorytype::CU_MEMORYTYPE_UNIFIED,
                srcHost: std::ptr::null(),
                srcDevice: source,
                srcArray: std::ptr::null_mut(),
                reserved0: std::ptr::null_mut(),
                srcPitch: rows.source.row as usize,
                srcHeight: rows.source.rows as usize,
                dstXInBytes: 0,
                dstY: 0,
                dstZ: 0,
                dstLOD: 0,
                dstMemoryType: CUmemorytype::CU_MEMORYTYPE_UNIFIED,
                dstHost: std::ptr::null_mut(),
                dstDevice: target,
                dstArray: std::ptr::null_mut(),
                reserved1: std::ptr::null_mut(),
                dstPitch: rows.target.row as usize,
                dstHeight: rows.target.rows as usize,
                WidthInBytes: rows.bytes as usize,
                Height: rows.count as usize,
                Depth: rows.planes as usize,
            };
            // SAFETY: the caller's promise; the driver reads the structure before it returns.
            return Code::check(unsafe { cuMemcpy3DAsync_v2(&raw const copy, self.raw) });
        }
        let copy = CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_UNIFIED,
            srcHost: std::ptr::null(),
            srcDevice: source,
            srcArray: std::ptr::null_mut(),
            srcPitch: rows.source.row as usize,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_UNIFIED,
            dstHost: std::ptr::null_mut(),
            dstDevice: target,
            dstArray: std::ptr::null_mut(),
            dstPitch: rows.target.row as usize,
            WidthInBytes: rows.bytes as usize,
            Height: rows.count as usize,
        };
        // SAFETY: the caller's promise; the driver reads the structure before it returns.
        Code::check(unsafe { cuMemcpy2DAsync_v2(&raw const copy, self.raw) })
    }

    /// Writes zeros.
    ///
    /// # Safety
    /// As for [`copy`](Self::copy), for the range.
    pub(crate) unsafe fn zero(&self, start: u64, bytes: u64) -> Result<(), Code> {
        // SAFETY: the caller's promise.
        Code::check(unsafe { cuMemsetD8Async(start, 0, bytes as usize, self.raw) })
    }

    /// Launches blocks of threads of a kernel.
    ///
    /// # Safety
    /// The arguments are pointers to what the kernel takes, of its types; what it does with memory the caller promises as for
    /// [`copy`](Self::copy).
    pub(crate) unsafe fn launch(
        &self,
        kernel: Function,
        blocks: u32,
        threads: u32,
        arguments: &mut [*mut c_void],
    ) -> Result<(), Code> {
        let (arguments, none) = (arguments.as_mut_ptr(), std::ptr::null_mut());
        // SAFETY: the caller's promise; the driver copies the arguments before it returns.
        let launched =
            unsafe { cuLaunchKernel(kernel.0, blocks, 1, 1, threads, 1, 1, 0, self.raw, arguments, none) };
        Code::check(launched)
    }

    pub(crate) fn record(&self, event: &Event) -> Result<(), Code> {
        // SAFETY: both are alive.
        Code::check(unsafe { cuEventRecord(event.0, self.raw) })
    }

    pub(crate) fn wait(&self, event: &Event) -> Result<(), Code> {
        // SAFETY: both are alive; the driver remembers what it needs of the event.
        Code::check(unsafe { cuStreamWaitEvent(self.raw, event.0, 0) })
    }

    /// Has `call` called when the stream is that far, or cannot go on: callbacks run then, too, where host functions do not.
    pub(crate) fn call(&self, call: Call) -> Result<(), Code> {
        let call = Box::into_raw(Box::new(call));
        // SAFETY: `called` takes the box back, once.
        let added = Code::check(unsafe { cuStreamAddCallback(self.raw, called, call.cast(), 0) });
        if added.is_err() {
            // SAFETY: it was not taken: nobody will call it.
            drop(unsafe { Box::from_raw(call) });
        }
        added
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.guard.is_none() {
            // SAFETY: made by this value, and given back once.
            let _ = unsafe { cuStreamDestroy_v2(self.raw) };
        }
    }
}

impl Event {
    /// One that does not know when it was, which takes the device less.
    pub(crate) fn new() -> Result<Self, Code> {
        Self::create(CUevent_flags::CU_EVENT_DISABLE_TIMING)
    }

    /// One that knows when it was.
    pub(crate) fn timed() -> Result<Self, Code> {
        Self::create(CUevent_flags::CU_EVENT_DEFAULT)
    }

    fn create(flags: CUevent_flags) -> Result<Self, Code> {
        let mut event = std::ptr::null_mut();
        // SAFETY: the driver writes one handle.
        Code::check(unsafe { cuEventCreate(&raw mut event, flags as u32) })?;
        Ok(Self(event))
    }

    /// Nanoseconds on the device between another event and this one, both timed, which the driver has in steps of half a microsecond.
    pub(crate) fn nanoseconds_since(&self, earlier: &Self) -> Result<u64, Code> {
        let mut milliseconds = 0.0_f32;
        // SAFETY: both events are alive; the driver writes one number.
        Code::check(unsafe { cuEventElapsedTime(&raw mut milliseconds, earlier.0, self.0) })?;
        Ok((f64::from(milliseconds) * 1e6) as u64)
    }

    pub(crate) fn is_complete(&self) -> Result<bool, Code> {
        // SAFETY: the event is alive.
        match Code::check(unsafe { cuEventQuery(self.0) }) {
            Ok(()) => Ok(true),
            Err(code) if code.is_not_ready() => Ok(false),
            Err(code) => Err(code),
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: made by this value, and given back once; the driver keeps what streams still wait for.
        let _ = unsafe { cuEventDestroy_v2(self.0) };
    }
}
