//! Kernels: what sweeps a tile on its device. A kernel in PTX on a device of NVIDIA, a closure on the software device.

#[cfg(feature = "cuda")]
mod cuda;

use crate::field::Size;
use crate::sweep::{Parts, Real};
use chare::devices::{self, Device, Priority, Stream};
use chare::{DeviceBuffer, DeviceBufferMut};
#[cfg(feature = "cuda")]
use cuda::CudaKernel;
use std::error::Error;
use std::marker::PhantomData;

/// The points of a tile, and the edges of its neighbours: as [`Parts`], on the device.
pub(crate) type DeviceParts<R> = [Option<DeviceBuffer<R>>; 9];

/// What sweeps tiles of a size, on one stream.
pub(crate) struct Kernel<R> {
    device: Device,
    stream: Stream,
    size: Size,
    #[cfg(feature = "cuda")]
    cuda: Option<CudaKernel>,
    points: PhantomData<fn(R)>,
}

impl<R: Real> Kernel<R> {
    /// The one for the device of the PE that runs this.
    ///
    /// # Errors
    /// That there is no device, or what its driver said, in words.
    pub(crate) fn new(size: Size) -> Result<Self, Box<dyn Error>> {
        let (device, stream) = (devices::mine()?, devices::stream()?);
        #[cfg(feature = "cuda")]
        {
            // The software device has no name for its streams.
            let cuda = (!stream.raw().is_null()).then(|| CudaKernel::load::<R>(&device)).transpose()?;
            Ok(Self { device, stream, size, cuda, points: PhantomData })
        }
        #[cfg(not(feature = "cuda"))]
        Ok(Self { device, stream, size, points: PhantomData })
    }

    /// The stream on which it sweeps.
    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The same points on its own device: the buffer itself if that is where they lie, or a copy by the host.
    pub(crate) fn bring(&self, points: &DeviceBuffer<R>) -> Result<DeviceBuffer<R>, Box<dyn Error>> {
        if points.device().info().ordinal == self.device.info().ordinal {
            return Ok(points.clone());
        }
        let elements = points.to_vec(&points.device().stream(Priority::Normal)?)?;
        let mut brought = DeviceBufferMut::new(&self.device, points.len())?;
        brought.write(&self.stream, &elements)?;
        Ok(brought.freeze())
    }

    /// Has the device sweep: the points will be there when the stream is that far, which nobody waits for.
    pub(crate) fn sweep(&self, parts: &DeviceParts<R>) -> Result<DeviceBuffer<R>, Box<dyn Error>> {
        let size = self.size;
        let mut swept = DeviceBufferMut::new(&self.device, size.rows * size.columns)?;
        #[cfg(feature = "cuda")]
        if let Some(cuda) = &self.cuda {
            cuda.launch(&self.stream, size, parts, &mut swept)?;
            return Ok(swept.freeze());
        }
        let places: Vec<usize> = (0..parts.len()).filter(|place| parts[*place].is_some()).collect();
        let sources: Vec<&DeviceBuffer<R>> = parts.iter().flatten().collect();
        swept.compute_from(&self.stream, &sources, move |sources, swept| {
            let mut parts = [None; 9];
            places.iter().zip(sources).for_each(|(place, part)| parts[*place] = Some(*part));
            Parts::new(size, parts).sweep_to(swept);
        })?;
        Ok(swept.freeze())
    }
}
