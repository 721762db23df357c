//! The kernel of a CUDA device: `product.cu`, from PTX that is checked in.

#![expect(unsafe_code, reason = "loads and launches a kernel")]

use crate::bed::Fallible;
use chare_device::{Device, DeviceBuffer, DeviceBufferMut, Stream};
use cudarc::driver::result::{launch_kernel, module};
use cudarc::driver::sys::{CUfunction, CUmodule};
use cudarc::driver::{CudaContext, DriverError};
use std::ffi::{CStr, c_void};
use std::sync::Arc;

const PTX: &CStr = match CStr::from_bytes_with_nul(concat!(include_str!("product.ptx"), "\0").as_bytes()) {
    Ok(text) => text,
    Err(_) => panic!("the kernel is one text"),
};

pub(super) struct CudaProduct {
    /// The primary one, which is also that of the library.
    context: Arc<CudaContext>,
    module: CUmodule,
    function: CUfunction,
}

impl CudaProduct {
    pub(super) fn load(device: &Device) -> Result<Self, DriverError> {
        let context = CudaContext::new(device.info().ordinal as usize)?;
        // SAFETY: the context is the thread's; the driver reads a terminated text, and a name of it.
        let (module, function) = unsafe {
            let module = module::load_data(PTX.as_ptr().cast())?;
            (module, module::get_function(module, c"product".to_owned())?)
        };
        Ok(Self { context, module, function })
    }

    pub(super) fn launch(
        &self,
        on: &Stream,
        (side, tile): (usize, usize),
        factors: [&DeviceBuffer<f32>; 2],
        product: &mut DeviceBufferMut<f32>,
    ) -> Fallible {
        factors.into_iter().try_for_each(|factor| factor.before(on))?;
        product.before(on)?;
        let mut places = [factors[0].address(), factors[1].address(), product.address()];
        let mut length = i32::try_from(side)?;
        let [left, right, target] = &mut places;
        let mut arguments: [*mut c_void; 4] = [
            (&raw mut *left).cast(),
            (&raw mut *right).cast(),
            (&raw mut *target).cast(),
            (&raw mut length).cast(),
        ];
        let (tiles, tile) = ((side / tile) as u32, tile as u32);
        self.context.bind_to_thread()?;
        // SAFETY: the arguments are those of `product`; all three have as many elements as a matrix of this side, and nobody writes the
        // factors, nor touches the product, before the stream is past the launch.
        unsafe {
            launch_kernel(
                self.function,
                (tiles, tiles, 1),
                (tile, tile, 1),
                0,
                on.raw().cast(),
                &mut arguments,
            )?;
        }
        factors.into_iter().try_for_each(|factor| factor.after(on))?;
        Ok(product.after(on)?)
    }
}

impl Drop for CudaProduct {
    fn drop(&mut self) {
        // What was launched must be over. A device that is lost runs nothing any more.
        let _ = self.context.synchronize();
        // SAFETY: loaded by this value, and used by nobody any more.
        let _ = unsafe { module::unload(self.module) };
    }
}
