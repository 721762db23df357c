//! Grids: blocks at a fixed distance, copied by a device's two-dimensional copy: what programs do that have no kernel for it.
//!
//! A software device has no such copy; a step by a plan stands in its place, so that the program is the same.

#![expect(unsafe_code, reason = "gives two-dimensional copies to streams, of memory that nobody else uses")]

use crate::bed::{Bed, Fallible, every_second};
use chare_device::{Block, Pinned, Span};
use chare_layout::Plan;
use std::sync::Arc;

/// Every second block of so many bytes, and the same blocks side by side.
pub(crate) struct Grid {
    pub(crate) bytes: u64,
    #[cfg(feature = "cuda")]
    block: u64,
    pack: Arc<Plan>,
    unpack: Arc<Plan>,
    step: Arc<Plan>,
}

impl Grid {
    pub(crate) fn new(bytes: u64, block: u64) -> Fallible<Self> {
        let layout = every_second(bytes, block)?;
        let [pack, unpack, step] =
            [Plan::pack(&layout)?, Plan::unpack(&layout)?, Plan::new(&layout, &layout)?].map(Arc::new);
        Ok(Self {
            bytes,
            #[cfg(feature = "cuda")]
            block,
            pack,
            unpack,
            step,
        })
    }

    /// Device memory that has them apart.
    pub(crate) fn apart(&self, bed: &Bed) -> Fallible<Block> {
        Ok(bed.device.allocate(2 * self.bytes)?)
    }

    /// Has the stream copy them together, to pinned memory or within the device.
    pub(crate) fn pack(&self, bed: &Bed, from: &Block, to: &Span) -> Fallible {
        #[cfg(feature = "cuda")]
        if !bed.stream.raw().is_null() {
            return self.copy(bed, (&from.span(), 2 * self.block), (to, self.block));
        }
        self.pack_by_step(bed, from, to)
    }

    /// Has the stream pack them by one step, on any device.
    pub(crate) fn pack_by_step(&self, bed: &Bed, from: &Block, to: &Span) -> Fallible {
        // SAFETY: nobody else uses either memory.
        Ok(unsafe { bed.stream.step(&self.pack, &from.span(), to) }?)
    }

    /// Has the stream copy them apart, from pinned memory or within the device.
    pub(crate) fn unpack(&self, bed: &Bed, from: &Span, to: &Block) -> Fallible {
        #[cfg(feature = "cuda")]
        if !bed.stream.raw().is_null() {
            return self.copy(bed, (from, self.block), (&to.span(), 2 * self.block));
        }
        // SAFETY: nobody else uses either memory.
        Ok(unsafe { bed.stream.step(&self.unpack, from, &to.span()) }?)
    }

    /// Has the stream copy them to the same places of other memory of the device.
    pub(crate) fn step(&self, bed: &Bed, from: &Block, to: &Block) -> Fallible {
        #[cfg(feature = "cuda")]
        if !bed.stream.raw().is_null() {
            return self.copy(bed, (&from.span(), 2 * self.block), (&to.span(), 2 * self.block));
        }
        // SAFETY: nobody else uses either memory.
        Ok(unsafe { bed.stream.step(&self.step, &from.span(), &to.span()) }?)
    }

    /// The driver's copy between blocks at these distances.
    #[cfg(feature = "cuda")]
    fn copy(&self, bed: &Bed, (from, source): (&Span, u64), (to, target): (&Span, u64)) -> Fallible {
        use cudarc::driver::sys::{CUDA_MEMCPY2D, CUmemorytype, cuMemcpy2DAsync_v2};
        let copy = CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_UNIFIED,
            srcHost: std::ptr::null(),
            srcDevice: from.address(),
            srcArray: std::ptr::null_mut(),
            srcPitch: source as usize,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_UNIFIED,
            dstHost: std::ptr::null_mut(),
            dstDevice: to.address(),
            dstArray: std::ptr::null_mut(),
            dstPitch: target as usize,
            WidthInBytes: self.block as usize,
            Height: (self.bytes / self.block) as usize,
        };
        // SAFETY: the blocks lie within the spans, which the stream keeps, and nobody else uses either memory. The context is this thread's,
        // which has made the stream.
        unsafe { cuMemcpy2DAsync_v2(&raw const copy, bed.stream.raw().cast()) }.result()?;
        bed.stream.keep(from)?;
        Ok(bed.stream.keep(to)?)
    }
}

/// What the driver is, in thousands and tens: CUDA 12.4 is 12040.
#[cfg(feature = "cuda")]
pub(crate) fn driver_version() -> Fallible<i32> {
    let mut version = 0;
    // SAFETY: the driver writes one number.
    unsafe { cudarc::driver::sys::cuDriverGetVersion(&raw mut version) }.result()?;
    Ok(version)
}

/// Copies bytes that lie side by side within the device, or between it and pinned memory.
pub(crate) fn copy(bed: &Bed, from: &Span, to: &Span) -> Fallible {
    // SAFETY: nobody else uses either memory.
    Ok(unsafe { bed.stream.copy(from, to) }?)
}

/// What a network does between two hosts: copies pinned memory to other pinned memory. The streams are past both.
pub(crate) fn send(from: &mut Pinned, to: &mut Pinned) {
    let source = from.bytes().expect("the stream is past it");
    to.bytes().expect("the stream is past it").copy_from_slice(source);
}
