//! Product: a kernel that keeps a device's processors busy. PTX on a device of NVIDIA, a closure on the software device.

#[cfg(feature = "cuda")]
mod cuda;

use crate::bed::{Bed, Fallible};
use chare_device::{DeviceBuffer, DeviceBufferMut};
#[cfg(feature = "cuda")]
use cuda::CudaProduct;

/// Elements along a tile, which one block of threads computes, as in `product.cu`.
const TILE: usize = 16;

/// Two matrices, and room for their product.
pub(crate) struct Product {
    side: usize,
    left: DeviceBuffer<f32>,
    right: DeviceBuffer<f32>,
    product: DeviceBufferMut<f32>,
    #[cfg(feature = "cuda")]
    cuda: Option<CudaProduct>,
}

/// Small whole numbers, whose products and sums have no error.
fn element(position: usize) -> f32 {
    (position * 7 % 13) as f32 - 6.0
}

impl Product {
    /// Of square matrices of a side that is a multiple of a tile's.
    pub(crate) fn new(bed: &Bed, side: usize) -> Fallible<Self> {
        assert!(side.is_multiple_of(TILE), "{side} is no multiple of a tile");
        let elements: Vec<f32> = (0..side * side).map(element).collect();
        let filled = || {
            let mut buffer = DeviceBufferMut::new(&bed.device, side * side)?;
            buffer.write(&bed.stream, &elements)?;
            Fallible::Ok(buffer.freeze())
        };
        Ok(Self {
            side,
            left: filled()?,
            right: filled()?,
            product: DeviceBufferMut::new(&bed.device, side * side)?,
            #[cfg(feature = "cuda")]
            cuda: (!bed.stream.raw().is_null()).then(|| CudaProduct::load(&bed.device)).transpose()?,
        })
    }

    /// Bytes of a matrix.
    pub(crate) fn bytes(&self) -> u64 {
        (self.side * self.side * size_of::<f32>()) as u64
    }

    /// Gives the bed's stream one product.
    pub(crate) fn give(&mut self, bed: &Bed) -> Fallible {
        let Self { side, left, right, product, .. } = self;
        #[cfg(feature = "cuda")]
        if let Some(cuda) = &self.cuda {
            return cuda.launch(&bed.stream, (*side, TILE), [left, right], product);
        }
        let side = *side;
        product.compute_from(&bed.stream, &[left, right], move |sources, product| {
            let [left, right] = sources else { unreachable!("two were given") };
            for (row, line) in product.chunks_mut(side).enumerate() {
                for (column, element) in line.iter_mut().enumerate() {
                    *element = dot(side, [left, right], [row, column]);
                }
            }
        })?;
        Ok(())
    }

    /// Whether some elements of the last product, which the stream is past, are what the host computes.
    pub(crate) fn check(&mut self, bed: &Bed) -> Fallible {
        let mut landed = self.product.read(&bed.stream)?;
        bed.finish()?;
        let product = landed.elements()?.ok_or("the stream is past it")?;
        let elements: Vec<f32> = (0..self.side * self.side).map(element).collect();
        for place in (0..product.len()).step_by(self.side * 3 + 1) {
            let expected = dot(self.side, [&elements; 2], [place / self.side, place % self.side]);
            if product[place] != expected {
                return Err(
                    format!("element {place} of a product is {}, not {expected}", product[place]).into()
                );
            }
        }
        Ok(())
    }
}

/// One element of a product.
fn dot(side: usize, [left, right]: [&[f32]; 2], [row, column]: [usize; 2]) -> f32 {
    (0..side).map(|at| left[row * side + at] * right[at * side + column]).sum()
}
