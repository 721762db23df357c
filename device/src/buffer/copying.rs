//! Copies of exclusive buffers: what streams write to them and read from them, behind what others still do with their memory.

#![expect(unsafe_code, reason = "gives copies to streams that wait for what others do with the memory")]

use crate::buffer::exclusive::DeviceBufferMut;
use crate::buffer::landed::Landed;
use crate::buffer::order::Last;
use crate::buffer::shared::DeviceBuffer;
use crate::memory::pinned::Pinned;
use crate::method::{Method, Way};
use crate::stream::{Lanes, Stream};
use crate::words::error::DeviceError;
use bytemuck::Pod;
use chare_layout::Plan;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a piece, as long as there is pinned memory for it; and the shortest that is tried.
const PIECE_BYTES: usize = 1 << 20;
const PIECE_BYTES_MIN: usize = 4 << 10;

/// Has a command given for each piece of so many bytes; pieces get shorter where there is no room.
pub(crate) fn in_pieces(
    on: &Stream,
    len: usize,
    mut give: impl FnMut(Range<usize>) -> Result<(), DeviceError>,
) -> Result<(), DeviceError> {
    let (mut at, mut most) = (0, PIECE_BYTES);
    while at < len {
        let end = len.min(at + most);
        match give(at..end) {
            Ok(()) => at = end,
            Err(DeviceError::NoRoom { .. }) if most > PIECE_BYTES_MIN => {
                on.finish()?;
                most /= 2;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

impl<T: Pod> DeviceBuffer<T> {
    /// Its elements on the host. Waits, on this thread, for who wrote them and for their copy, a piece of pinned memory at a time: so it may
    /// be longer than all of that.
    ///
    /// ```
    /// use chare_device::{DeviceBufferMut, Priority, Software};
    /// # fn main() -> Result<(), chare_device::DeviceError> {
    /// let device = Software { pinned_bytes: 2 << 20, ..Software::default() }.open();
    /// let stream = device.stream(Priority::Normal)?;
    /// let mut long = DeviceBufferMut::<u32>::new(&device, 1 << 20)?;
    /// long.write(&stream, &vec![7; 1 << 20])?;
    /// assert!(long.freeze().to_vec(&stream)?.into_iter().all(|element| element == 7));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`DeviceError::NoRoom`] if others hold all pinned memory, and those of [`Stream::copy`].
    pub fn to_vec(&self, on: &Stream) -> Result<Vec<T>, DeviceError> {
        let mut elements = vec![<T as bytemuck::Zeroable>::zeroed(); self.len()];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut elements);
        let source = self.clone().into_bytes();
        in_pieces(on, source.len(), |piece| {
            let mut landed = source.part(piece.clone()).read(on)?;
            on.finish()?;
            bytes[piece].copy_from_slice(landed.elements()?.expect("the stream is past it"));
            Ok(())
        })?;
        Ok(elements)
    }
}

impl<T: Pod> DeviceBufferMut<T> {
    /// Copies elements of the host to it, by way of pinned memory: the slice may be changed at once. What is longer than half of that goes a
    /// piece at a time, and waits on this thread while there is no room for the next one.
    ///
    /// # Errors
    /// [`DeviceError::Lengths`] if there are not as many, [`DeviceError::NoRoom`] while the pinned memory is in use, and those of
    /// [`Stream::copy`].
    pub fn write(&mut self, on: &Stream, elements: &[T]) -> Result<(), DeviceError> {
        let bytes: &[u8] = bytemuck::cast_slice(elements);
        let mut staged = match self.device().pinned(bytes.len() as u64) {
            Err(DeviceError::NoRoom { asked, most, .. }) if asked > most / 2 => {
                return self.write_in_pieces(on, bytes);
            }
            staged => staged?,
        };
        staged.bytes().expect("nobody else has a share in new memory").copy_from_slice(bytes);
        self.used(on, |span| {
            // SAFETY: the stream waits for all others that use this memory, and those after it for the stream; the staged bytes are the
            // command's alone, as their only owner goes.
            unsafe { on.copy(&staged.span(), span) }
        })
    }

    fn write_in_pieces(&mut self, on: &Stream, bytes: &[u8]) -> Result<(), DeviceError> {
        let (from, to) = (bytes.len() as u64, self.span().len());
        if from != to {
            return Err(DeviceError::Lengths { from, to });
        }
        let device = self.device().clone();
        in_pieces(on, bytes.len(), |piece| {
            let mut staged = device.pinned(piece.len() as u64)?;
            staged
                .bytes()
                .expect("nobody else has a share in new memory")
                .copy_from_slice(&bytes[piece.clone()]);
            self.used(on, |span| {
                let part = span.part(piece.start as u64..piece.end as u64)?;
                // SAFETY: as in `write`.
                unsafe { on.copy(&staged.span(), &part) }
            })
        })
    }

    /// Copies it to the host. What is longer than the pinned memory is read by [`to_vec`](DeviceBuffer::to_vec).
    ///
    /// # Errors
    /// [`DeviceError::NoRoom`] while the pinned memory is in use, and those of [`Stream::copy`].
    pub fn read(&mut self, on: &Stream) -> Result<Landed<T>, DeviceError> {
        let landed = self.device().pinned(self.span().len())?;
        self.used(on, |span| {
            // SAFETY: as in `write`; the landed bytes are seen when the command is over.
            unsafe { on.copy(span, &landed.span()) }
        })?;
        Ok(Landed::new(landed, on.record()?))
    }

    /// Copies a shared buffer of as many elements to it.
    ///
    /// # Errors
    /// Those of [`Stream::copy`].
    pub fn copy_from(&mut self, on: &Stream, source: &DeviceBuffer<T>) -> Result<(), DeviceError> {
        self.used(on, |target| {
            source.used(on, |source| {
                // SAFETY: the stream waits for all others that use the target, and for who wrote the source, which nobody writes before
                // this is over. An exclusive buffer shares no byte with another one.
                unsafe { on.copy(source, target) }
            })
        })
    }

    /// Copies by a plan from a shared buffer to it.
    ///
    /// # Errors
    /// Those of [`Stream::step`]. If the device refuses, some of it may be written.
    pub fn step_from<S: Pod>(
        &mut self,
        on: &Stream,
        plan: &Arc<Plan>,
        source: &DeviceBuffer<S>,
    ) -> Result<(), DeviceError> {
        self.used(on, |target| {
            source.used(on, |source| {
                // SAFETY: as in `copy_from`.
                unsafe { on.step(plan, source, target) }
            })
        })
    }

    /// Copies by many plans, each from a shared buffer to one of its own: all halos of a turn, which a CUDA device launches together as
    /// [`Stream::step_all`] does, and behind which one event is recorded.
    ///
    /// ```
    /// use chare_device::{DeviceBufferMut, Priority, Software};
    /// use chare_layout::{Layout, Plan};
    /// # use std::sync::Arc;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = Software::default().open();
    /// let stream = device.stream(Priority::Normal)?;
    /// let field = DeviceBufferMut::<f32>::zeroed(&device, &stream, 8 * 8)?.freeze();
    /// let (mut north, mut west) = (DeviceBufferMut::<f32>::new(&device, 8)?, DeviceBufferMut::new(&device, 8)?);
    /// let row = Arc::new(Plan::pack(Layout::<f32>::contiguous(8)?.raw())?);
    /// let column = Arc::new(Plan::pack(Layout::<f32>::vector(8, 1, 8)?.raw())?);
    /// DeviceBufferMut::step_all(&stream, &mut [(&row, &field, &mut north), (&column, &field, &mut west)])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`Stream::step_all`].
    pub fn step_all<S: Pod>(
        on: &Stream,
        steps: &mut [(&Arc<Plan>, &DeviceBuffer<S>, &mut Self)],
    ) -> Result<(), DeviceError> {
        for (_, source, target) in &*steps {
            source.before(on)?;
            target.before(on)?;
        }
        let spans: Vec<_> =
            steps.iter().map(|(plan, source, target)| (*plan, source.span(), target.span())).collect();
        // SAFETY: the stream waits for all others that use the targets, and for who wrote the sources, which nobody writes before this is
        // over. Each target has one owner, and so shares no byte with another buffer.
        let given = unsafe { on.step_all(&spans) };
        let last = Last::of(on);
        for (_, source, target) in steps {
            source.was_read(on, last.clone());
            target.was_written(last.clone());
        }
        given
    }
}

impl DeviceBufferMut<u8> {
    /// Copies by a plan from pinned memory, which is given back to its pool when the command is over.
    ///
    /// # Errors
    /// Those of [`Stream::step`]. If the device refuses, some of it may be written.
    pub fn unstage(&mut self, on: &Stream, plan: &Arc<Plan>, from: Pinned) -> Result<(), DeviceError> {
        self.unstage_by(Method::OneShot, on, plan, from)
    }

    /// As [`unstage`](Self::unstage), by a method that a [`Model`](crate::Model) has chosen. What is given one stream alone is all done on
    /// that. It is over when [the method's last stream](Method::last) is past it.
    ///
    /// # Errors
    /// Those of [`unstage`](Self::unstage).
    pub fn unstage_by<'a>(
        &mut self,
        method: Method,
        on: impl Into<Lanes<'a>>,
        plan: &Arc<Plan>,
        from: Pinned,
    ) -> Result<(), DeviceError> {
        let (device, lanes) = (self.device().clone(), on.into());
        self.used(method.touching(lanes), |span| {
            // SAFETY: as in `write`; nobody else has a share in the pinned memory that could be used to write it, and it goes with the
            // command.
            unsafe { method.carry_out(Way::In, (&device, lanes), plan, (&from.span(), span)) }
        })
    }
}
