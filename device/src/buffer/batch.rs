//! Batches: steps between buffers, and between buffers and pinned memory, which are launched together.

#![expect(unsafe_code, reason = "gives steps to a stream that waits for what others do with the memory")]

use crate::buffer::exclusive::DeviceBufferMut;
use crate::buffer::landed::Landed;
use crate::buffer::order::Last;
use crate::buffer::shared::DeviceBuffer;
use crate::memory::pinned::Pinned;
use crate::memory::span::Span;
use crate::stream::Stream;
use crate::words::error::DeviceError;
use chare_layout::Plan;
use std::sync::Arc;

/// Steps that are collected, then launched together, as [`Stream::step_all`] does. Each owns what it writes until then.
///
/// ```
/// use chare_device::{Batch, DeviceBufferMut, Done, Priority, Software};
/// use chare_layout::{Layout, Plan};
/// # use std::sync::Arc;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Software::default().open();
/// let stream = device.stream(Priority::Normal)?;
/// let field = DeviceBufferMut::<u8>::zeroed(&device, &stream, 8 * 8)?.freeze();
/// let column = Arc::new(Plan::pack(Layout::<u8>::vector(8, 1, 8)?.raw())?);
///
/// let mut batch = Batch::default();
/// batch.step(&column, field.clone(), DeviceBufferMut::new(&device, 8)?)?;
/// batch.stage(&column, field, device.pinned(8)?)?;
/// let done = batch.launch(&stream)?;
/// assert!(matches!(done[..], [Done::Filled(_), Done::Landed(_)]));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Batch(Vec<Step>);

#[derive(Debug)]
struct Step {
    plan: Arc<Plan>,
    source: Source,
    target: Target,
}

#[derive(Debug)]
enum Source {
    Buffer(DeviceBuffer<u8>),
    Pinned(Pinned),
}

#[derive(Debug)]
enum Target {
    Buffer(DeviceBufferMut<u8>),
    Pinned(Pinned),
}

/// What a step of a batch has been given to write, once it was launched.
#[derive(Debug)]
pub enum Done {
    /// A buffer, which whoever uses next waits for.
    Filled(DeviceBufferMut<u8>),
    /// Pinned memory, whose bytes are seen when the stream is past the batch.
    Landed(Landed<u8>),
}

impl Batch {
    /// How many steps it has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a step from buffer to buffer, both of the device of the stream that it is to be launched on.
    ///
    /// # Errors
    /// [`DeviceError::Layout`] if the plan selects what they do not have.
    pub fn step(
        &mut self,
        plan: &Arc<Plan>,
        source: DeviceBuffer<u8>,
        target: DeviceBufferMut<u8>,
    ) -> Result<(), DeviceError> {
        self.add(plan, Source::Buffer(source), Target::Buffer(target))
    }

    /// Adds a step into pinned memory.
    ///
    /// # Errors
    /// Those of [`step`](Self::step).
    pub fn stage(
        &mut self,
        plan: &Arc<Plan>,
        source: DeviceBuffer<u8>,
        target: Pinned,
    ) -> Result<(), DeviceError> {
        self.add(plan, Source::Buffer(source), Target::Pinned(target))
    }

    /// Adds a step out of pinned memory, which is given back to its pool when that is over.
    ///
    /// # Errors
    /// Those of [`step`](Self::step).
    pub fn unstage(
        &mut self,
        plan: &Arc<Plan>,
        source: Pinned,
        target: DeviceBufferMut<u8>,
    ) -> Result<(), DeviceError> {
        self.add(plan, Source::Pinned(source), Target::Buffer(target))
    }

    fn add(&mut self, plan: &Arc<Plan>, source: Source, target: Target) -> Result<(), DeviceError> {
        plan.check_bounds(source.span().len(), target.span().len())?;
        self.0.push(Step { plan: Arc::clone(plan), source, target });
        Ok(())
    }

    /// Launches all steps together, behind what others still do with their memory. Returns what each writes, in the order in which they
    /// were added.
    ///
    /// # Errors
    /// Those of [`Stream::step_all`]: then nothing is known of what was written.
    pub fn launch(mut self, on: &Stream) -> Result<Vec<Done>, DeviceError> {
        for Step { source, target, .. } in &self.0 {
            if let Source::Buffer(source) = source {
                source.before(on)?;
            }
            if let Target::Buffer(target) = target {
                target.before(on)?;
            }
        }
        let spans: Vec<_> =
            self.0.iter().map(|step| (&step.plan, step.source.span(), step.target.span())).collect();
        let steps: Vec<_> = spans.iter().map(|(plan, source, target)| (*plan, source, target)).collect();
        // SAFETY: the stream waits for all others that use the buffers that are written, and for who wrote those that are read, which
        // nobody writes before this is over. Each target, and all pinned memory, has one owner, which is here; and so shares no byte with
        // any other.
        let given = unsafe { on.step_all(&steps) };
        drop(steps);
        drop(spans);
        let last = Last::of(on);
        // Also if it was refused: a part may have been given.
        for Step { source, target, .. } in &mut self.0 {
            if let Source::Buffer(source) = source {
                source.was_read(on, last.clone());
            }
            if let Target::Buffer(target) = target {
                target.was_written(last.clone());
            }
        }
        given?;
        let event = on.record()?;
        let done = |step: Step| match step.target {
            Target::Buffer(buffer) => Done::Filled(buffer),
            Target::Pinned(pinned) => Done::Landed(Landed::new(pinned, event.clone())),
        };
        Ok(self.0.into_iter().map(done).collect())
    }
}

impl Source {
    fn span(&self) -> Span {
        match self {
            Self::Buffer(buffer) => buffer.span().clone(),
            Self::Pinned(pinned) => pinned.span(),
        }
    }
}

impl Target {
    fn span(&self) -> Span {
        match self {
            Self::Buffer(buffer) => buffer.span().clone(),
            Self::Pinned(pinned) => pinned.span(),
        }
    }
}
