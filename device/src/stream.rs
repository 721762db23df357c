//! Streams: commands to a device, done in their order; who gives one goes on at once.
//!
//! 1. What two streams do has no order, except by events: one [records](Stream::record) it, the other one
//!    [waits](Stream::wait) for it.
//! 2. A stream that is dropped still does what it was given.

#![expect(unsafe_code, reason = "passes the promises of callers on to backends")]

use crate::backend::{Kernel, Queue, Rows, Step};
use crate::event::Event;
use crate::memory::span::Span;
use crate::passed::Passed;
use crate::words::bell::Bell;
use crate::words::error::DeviceError;
use crate::words::info::Info;
use chare_layout::Plan;
use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

/// A stream of a device. Clones are the same stream.
#[derive(Clone)]
pub struct Stream {
    owner: Arc<Info>,
    queue: Arc<dyn Queue>,
}

/// The two streams of a transfer of chunks: while one chunk is stepped on the one, another is copied on the other. One stream may be both.
#[derive(Debug, Clone, Copy)]
pub struct Lanes<'a> {
    /// Steps, whose kernels pack and unpack.
    pub steps: &'a Stream,
    /// Copies between the device and pinned memory.
    pub copies: &'a Stream,
}

impl<'a> From<&'a Stream> for Lanes<'a> {
    fn from(both: &'a Stream) -> Self {
        Self { steps: both, copies: both }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Stream({})", self.owner)
    }
}

impl Stream {
    pub(crate) fn new(owner: &Arc<Info>, queue: Box<dyn Queue>) -> Self {
        Self { owner: Arc::clone(owner), queue: queue.into() }
    }

    /// Copies between memory of the device and pinned memory, in any direction.
    ///
    /// # Errors
    /// [`DeviceError::Lengths`] or [`DeviceError::Overlap`] if the spans do not go together, [`DeviceError::Foreign`] if one is of another
    /// device, [`DeviceError::Refused`], and [`DeviceError::Lost`].
    ///
    /// # Safety
    /// From now until the stream is past it, nobody else writes what it reads or touches what it writes: no other stream that no event
    /// keeps apart, no other process, no kernel of the user.
    pub unsafe fn copy(&self, from: &Span, to: &Span) -> Result<(), DeviceError> {
        self.check_spans(from, to)?;
        if from.len() != to.len() {
            return Err(DeviceError::Lengths { from: from.len(), to: to.len() });
        }
        if from.overlaps(to) {
            return Err(DeviceError::Overlap { bytes: from.len() });
        }
        // SAFETY: the caller's promise.
        unsafe { self.queue.copy(from.clone(), to.clone()) }
    }

    /// Copies rows between the first bytes of spans.
    ///
    /// # Errors
    /// Those of [`copy`](Self::copy).
    ///
    /// # Safety
    /// As for [`copy`](Self::copy), for the rows, all of which lie within the spans, apart.
    pub(crate) unsafe fn copy_rows(&self, rows: Rows, from: &Span, to: &Span) -> Result<(), DeviceError> {
        self.check_spans(from, to)?;
        // SAFETY: the caller's promise.
        unsafe { self.queue.copy_rows(rows, from.clone(), to.clone()) }
    }

    /// Copies by a plan from one span to the other, which may be of one block.
    ///
    /// # Errors
    /// [`DeviceError::Layout`] if the plan selects what the spans do not have, and those of [`copy`](Self::copy).
    ///
    /// # Safety
    /// As for [`copy`](Self::copy), for what the plan selects; and it writes no byte that it reads.
    pub unsafe fn step(&self, plan: &Arc<Plan>, from: &Span, to: &Span) -> Result<(), DeviceError> {
        self.check_spans(from, to)?;
        plan.check_bounds(from.len(), to.len())?;
        // SAFETY: the caller's promise; the plan's bounds are within the spans.
        unsafe { self.queue.step(Arc::clone(plan), from.clone(), to.clone()) }
    }

    /// Copies by many plans, as [`step`](Self::step) does by one, in any order: all halos of a turn. On a CUDA device they are launched
    /// together: nests once for each length of words, and width where there are many; what has a table by itself. A software device does one after the other.
    ///
    /// ```
    /// # use chare_device::{DeviceError, Priority, Software};
    /// # use chare_layout::{Layout, Plan};
    /// # use std::sync::Arc;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = Software::default().open();
    /// let stream = device.stream(Priority::Normal)?;
    /// // The first and the last column of a field of 8 x 8 bytes, side by side.
    /// let (field, halos) = (device.allocate(64)?, device.allocate(16)?);
    /// let column = Arc::new(Plan::pack(Layout::<u8>::vector(8, 1, 8)?.raw())?);
    /// let [west, east] = [field.span(), field.span().part(7..64)?];
    /// let [first, second] = [halos.span().part(0..8)?, halos.span().part(8..16)?];
    /// // SAFETY: nobody else uses either memory, and the halos are apart.
    /// unsafe { stream.step_all(&[(&column, &west, &first), (&column, &east, &second)])? };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`step`](Self::step). If a plan does not go with its spans, nothing is done; if the device refuses, some may be.
    ///
    /// # Safety
    /// As for [`step`](Self::step), for each; and no step reads or writes a byte that another one writes.
    pub unsafe fn step_all(&self, steps: &[(&Arc<Plan>, &Span, &Span)]) -> Result<(), DeviceError> {
        for (plan, from, to) in steps {
            self.check_spans(from, to)?;
            plan.check_bounds(from.len(), to.len())?;
        }
        let owned = |&(plan, from, to): &(&Arc<Plan>, &Span, &Span)| Step {
            plan: Arc::clone(plan),
            from: from.clone(),
            to: to.clone(),
        };
        // SAFETY: the caller's promise; each plan's bounds are within its spans.
        unsafe { self.queue.step_all(steps.iter().map(owned).collect()) }
    }

    /// Writes zeros.
    ///
    /// # Errors
    /// [`DeviceError::Foreign`], [`DeviceError::Refused`] and [`DeviceError::Lost`].
    ///
    /// # Safety
    /// As for [`copy`](Self::copy), for what it writes.
    pub unsafe fn zero(&self, span: &Span) -> Result<(), DeviceError> {
        self.check_memory(span)?;
        // SAFETY: the caller's promise.
        unsafe { self.queue.zero(span.clone()) }
    }

    /// Has a closure read the sources and write the target, on a device whose kernels are closures.
    ///
    /// # Errors
    /// [`DeviceError::Foreign`], [`DeviceError::Refused`] where they are not, and [`DeviceError::Lost`].
    ///
    /// # Safety
    /// As for [`copy`](Self::copy), from all sources to the target, which shares no byte with them.
    pub(crate) unsafe fn compute(
        &self,
        kernel: Kernel,
        sources: Vec<Span>,
        target: Span,
    ) -> Result<(), DeviceError> {
        sources.iter().chain([&target]).try_for_each(|span| self.check_memory(span))?;
        // SAFETY: the caller's promise.
        unsafe { self.queue.compute(kernel, sources, target) }
    }

    /// An event that is complete when the stream has done all that it was given so far.
    ///
    /// # Errors
    /// [`DeviceError::Refused`] and [`DeviceError::Lost`].
    pub fn record(&self) -> Result<Event, DeviceError> {
        Ok(Event::new(&self.owner, self.queue.record()?))
    }

    /// An event that says when it was complete, by the device's own time.
    pub(crate) fn stamp(&self) -> Result<Event, DeviceError> {
        Ok(Event::new(&self.owner, self.queue.stamp()?))
    }

    /// Has the stream wait for the event of another one before it goes on. The caller does not wait.
    ///
    /// # Errors
    /// [`DeviceError::Foreign`], [`DeviceError::Refused`] and [`DeviceError::Lost`].
    pub fn wait(&self, event: &Event) -> Result<(), DeviceError> {
        self.check_owner("an event", event.owner())?;
        self.queue.wait(event.signal())
    }

    /// Has the stream wait for all that another one was given so far, unless both are one.
    ///
    /// # Errors
    /// Those of [`record`](Self::record) and [`wait`](Self::wait).
    pub(crate) fn wait_for(&self, other: &Self) -> Result<(), DeviceError> {
        if self.is(other) { Ok(()) } else { self.wait(&other.record()?) }
    }

    /// Has the stream ring when it has done all that it was given so far. If the device is lost before, the bell rings then.
    ///
    /// # Errors
    /// [`DeviceError::Refused`] and [`DeviceError::Lost`]: it will not ring.
    pub fn ring(&self, bell: &Bell) -> Result<(), DeviceError> {
        let bell = bell.clone();
        self.queue.call(Box::new(move || bell.ring()))
    }

    /// Waits, on this thread, until the stream has done all that it was given so far, or the device is lost.
    ///
    /// # Errors
    /// [`DeviceError::Refused`] and [`DeviceError::Lost`].
    pub(crate) fn finish(&self) -> Result<(), DeviceError> {
        self.queue.finish()
    }

    /// Has the stream call when it has done all that it was given so far, or the device is lost: an [event](Self::record) that was recorded
    /// before says which, later. The closure runs on a thread that serves others, too: it must not wait, and must not use the device, nor
    /// its events.
    ///
    /// # Errors
    /// [`DeviceError::Refused`] and [`DeviceError::Lost`]: it will not call.
    pub fn call(&self, call: impl FnOnce() + Send + 'static) -> Result<(), DeviceError> {
        self.queue.call(Box::new(call))
    }

    /// A future that is over when the stream has done all that it was given so far, for any executor. It need not be awaited; whoever drops
    /// it is woken no more. An entry of a chare awaits it by `chare::io`, which counts for quiescence.
    ///
    /// # Errors
    /// [`DeviceError::Refused`] and [`DeviceError::Lost`].
    pub fn passed(&self) -> Result<Passed, DeviceError> {
        let (passed, wake) = Passed::new(self.record()?);
        self.queue.call(wake)?;
        Ok(passed)
    }

    /// Keeps memory until the stream has done all that it was given so far: for kernels that the user launched on it, whose
    /// memory nobody here knows.
    ///
    /// # Errors
    /// [`DeviceError::Foreign`], [`DeviceError::Refused`] and [`DeviceError::Lost`].
    pub fn keep(&self, span: &Span) -> Result<(), DeviceError> {
        self.check_memory(span)?;
        self.queue.keep(span.clone())
    }

    /// What the kind of device calls it, for launching the user's own kernels: on a CUDA device its `CUstream`, valid as long as the stream;
    /// null on a software device, whose kernels are closures
    /// ([`DeviceBufferMut::compute_from`](crate::DeviceBufferMut::compute_from)).
    pub fn raw(&self) -> *mut c_void {
        self.queue.raw()
    }

    /// Whether both are handles of one stream.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.queue, &other.queue)
    }

    fn check_spans(&self, from: &Span, to: &Span) -> Result<(), DeviceError> {
        self.check_memory(from)?;
        self.check_memory(to)
    }

    /// # Errors
    /// [`DeviceError::Foreign`] if it is memory of another device.
    pub(crate) fn check_memory(&self, span: &Span) -> Result<(), DeviceError> {
        self.check_owner("memory", span.arena().owner())
    }

    fn check_owner(&self, what: &'static str, owner: &Arc<Info>) -> Result<(), DeviceError> {
        DeviceError::check_owner(&self.owner, what, owner)
    }
}
