//! The kernel of a CUDA device: `sweep.cu`, from PTX that is checked in, launched by `cudarc` on the stream's raw name.

#![expect(unsafe_code, reason = "loads and launches a kernel")]

use crate::field::Size;
use crate::kernel::DeviceParts;
use crate::sweep::Real;
use chare::DeviceBufferMut;
use chare::devices::{Device, Stream};
use cudarc::driver::result::{launch_kernel, module};
use cudarc::driver::sys::{CUfunction, CUmodule};
use cudarc::driver::{CudaContext, DriverError};
use std::error::Error;
use std::ffi::{CStr, c_void};
use std::sync::Arc;

const PTX: &CStr = match CStr::from_bytes_with_nul(concat!(include_str!("../sweep.ptx"), "\0").as_bytes()) {
    Ok(text) => text,
    Err(_) => panic!("the kernel is one text"),
};

/// Threads of a block, along a row and down a column.
const THREADS: [u32; 2] = [32, 8];

pub(crate) struct CudaKernel {
    /// The primary one, which is also that of the runtime.
    context: Arc<CudaContext>,
    module: CUmodule,
    function: CUfunction,
}

// SAFETY: the driver's handles are process-wide, and its calls may be made by any thread.
unsafe impl Send for CudaKernel {}

impl CudaKernel {
    pub(crate) fn load<R: Real>(device: &Device) -> Result<Self, DriverError> {
        let context = CudaContext::new(device.info().ordinal as usize)?;
        // SAFETY: the context is the thread's; the driver reads a terminated text, and a name of it.
        let (module, function) = unsafe {
            let module = module::load_data(PTX.as_ptr().cast())?;
            let name = if size_of::<R>() == size_of::<f32>() { c"sweep_single" } else { c"sweep" };
            (module, module::get_function(module, name.to_owned())?)
        };
        Ok(Self { context, module, function })
    }

    /// Launches it between what buffers say of themselves: the stream waits for who wrote the parts, and who uses the swept points next waits
    /// for the stream.
    pub(crate) fn launch<R: Real>(
        &self,
        on: &Stream,
        size: Size,
        parts: &DeviceParts<R>,
        swept: &mut DeviceBufferMut<R>,
    ) -> Result<(), Box<dyn Error>> {
        parts.iter().flatten().try_for_each(|part| part.before(on))?;
        swept.before(on)?;
        let mut places = parts.each_ref().map(|part| part.as_ref().map_or(0, |part| part.address()));
        let (mut target, mut lengths) = (swept.address(), [size.rows as i64, size.columns as i64]);
        let mut arguments: [*mut c_void; 4] = [
            places.as_mut_ptr().cast(),
            (&raw mut target).cast(),
            (&raw mut lengths[0]).cast(),
            (&raw mut lengths[1]).cast(),
        ];
        let blocks = |points: usize, threads: u32| (points as u32).div_ceil(threads);
        let grid = (blocks(size.columns, THREADS[0]), blocks(size.rows, THREADS[1]), 1);
        self.context.bind_to_thread()?;
        // SAFETY: the arguments are those of a sweep of such points; the parts are as long as edges of tiles of this size, and nobody writes them, nor touches
        // what is written, before the stream is past the launch.
        unsafe {
            let stream = on.raw().cast();
            launch_kernel(self.function, grid, (THREADS[0], THREADS[1], 1), 0, stream, &mut arguments)?;
        }
        parts.iter().flatten().try_for_each(|part| part.after(on))?;
        Ok(swept.after(on)?)
    }
}

impl Drop for CudaKernel {
    fn drop(&mut self) {
        // What was launched must be over. A device that is lost runs nothing any more.
        let _ = self.context.synchronize();
        // SAFETY: loaded by this value, and used by nobody any more.
        let _ = unsafe { module::unload(self.module) };
    }
}
