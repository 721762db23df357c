//! Computed buffers: what a closure makes of other buffers, in place of a kernel.

#![expect(unsafe_code, reason = "gives closures to streams that wait for what others do with the memory")]

use crate::backend::Kernel;
use crate::buffer::exclusive::DeviceBufferMut;
use crate::buffer::order::Last;
use crate::buffer::shared::DeviceBuffer;
use crate::stream::Stream;
use crate::words::error::DeviceError;
use bytemuck::Pod;

impl<T: Pod> DeviceBufferMut<T> {
    /// Has a stream of a software device call a closure that reads shared buffers and writes this one: what a kernel of the user's own does
    /// on a device that has kernels, so that a program with one runs, and is tested, where there is no such device. It is called once, later,
    /// on the stream's thread, and must not use the device. Cost: a command.
    ///
    /// ```
    /// use chare_device::{Bell, DeviceBufferMut, Priority, Software};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = Software::default().open();
    /// let stream = device.stream(Priority::Normal)?;
    /// let mut field = DeviceBufferMut::<f64>::new(&device, 3)?;
    /// field.write(&stream, &[1.0, 2.0, 3.0])?;
    /// let mut doubled = DeviceBufferMut::<f64>::new(&device, 3)?;
    /// doubled.compute_from(&stream, &[&field.freeze()], |sources, target| {
    ///     target.iter_mut().zip(sources[0]).for_each(|(target, source)| *target = 2.0 * source);
    /// })?;
    ///
    /// let (mut landed, bell) = (doubled.read(&stream)?, Bell::new()?);
    /// stream.ring(&bell)?;
    /// bell.wait()?;
    /// assert_eq!(landed.elements()?, Some(&[2.0, 4.0, 6.0][..]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A closure that panics does what a kernel's fault does: the device is lost, and the error has the panic's words.
    ///
    /// # Errors
    /// [`DeviceError::Refused`] by a CUDA device: its kernels are launched on [`Stream::raw`], between [`before`](Self::before) and
    /// [`after`](Self::after). [`DeviceError::Foreign`] if something is of another device, and [`DeviceError::Lost`].
    pub fn compute_from<S: Pod>(
        &mut self,
        on: &Stream,
        sources: &[&DeviceBuffer<S>],
        kernel: impl FnOnce(&[&[S]], &mut [T]) + Send + 'static,
    ) -> Result<(), DeviceError> {
        sources.iter().try_for_each(|source| source.before(on))?;
        let spans = sources.iter().map(|source| source.span().clone()).collect();
        let kernel: Kernel = Box::new(move |sources, target| {
            let sources: Vec<&[S]> = sources.iter().map(|source| bytemuck::cast_slice(source)).collect();
            kernel(&sources, bytemuck::cast_slice_mut(target));
        });
        let given = self.used(on, |target| {
            // SAFETY: the stream waits for all others that use the target, and for who wrote the sources, which nobody writes before this
            // is over. An exclusive buffer shares no byte with another one.
            unsafe { on.compute(kernel, spans, target.clone()) }
        });
        let last = Last::of(on);
        sources.iter().for_each(|source| source.was_read(on, last.clone()));
        given
    }
}
