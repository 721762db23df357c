//! Queue of a stream of a CUDA device.

#![expect(unsafe_code, reason = "gives copies and kernels to a stream of the driver")]

use crate::backend::{Call, Kernel, Queue, Rows, Signal, Step};
use crate::cuda::context::Context;
use crate::cuda::kept::Kept;
use crate::cuda::kernels::{Kernels, at, gathered};
use crate::cuda::mapped::Mapped;
use crate::cuda::signal::CudaSignal;
use crate::cuda::spares::Spare;
use crate::cuda::sys::{Code, Event, Stream};
use crate::launch::Launches;
use crate::memory::mapping::Mapping;
use crate::memory::span::Span;
use crate::tables::Tables;
use crate::words::error::DeviceError;
use chare_layout::Plan;
use std::any::Any;
use std::ffi::c_void;
use std::sync::{Arc, OnceLock};

/// Fields are dropped in this order: the context is the last.
pub(crate) struct CudaQueue {
    stream: Stream,
    /// Where the host is called, made at the first call: a stream rests until the host's function has returned, and this one has nothing
    /// else to do.
    calls: OnceLock<Stream>,
    kept: Arc<Kept>,
    kernels: Arc<Kernels>,
    tables: Arc<Tables>,
    context: Arc<Context>,
}

impl CudaQueue {
    /// A stream of the context that was entered.
    pub(crate) fn new(
        context: &Arc<Context>,
        kernels: &Arc<Kernels>,
        tables: &Arc<Tables>,
        stream: Stream,
    ) -> Self {
        let (context, kernels, tables) = (Arc::clone(context), Arc::clone(kernels), Arc::clone(tables));
        Self { stream, calls: OnceLock::new(), kept: Arc::default(), kernels, tables, context }
    }

    /// Gives the stream a command that uses memory, and keeps that until the stream is past it.
    fn give<Spans: IntoIterator<Item = Span>>(
        &self,
        operation: &'static str,
        spans: Spans,
        command: impl FnOnce(&Stream, &Spans) -> Result<(), Code>,
    ) -> Result<(), DeviceError> {
        self.context.enter()?;
        let given = command(&self.stream, &spans);
        // A command of which a part was given uses its memory, too.
        let kept = self.kept.keep(&self.stream, spans);
        given.and(kept).map_err(|code| self.context.fault(operation, code))
    }

    /// Gives the stream steps, which it carries out as few launches.
    ///
    /// # Safety
    /// As for [`Queue::step_all`].
    unsafe fn give_steps(&self, operation: &'static str, steps: Vec<Step>) -> Result<(), DeviceError> {
        let map = |domain, bytes| {
            let mapped = Mapped::create(&self.context, domain, bytes)?;
            Ok(Box::new(mapped) as Box<dyn Mapping>)
        };
        let (mut singles, mut tabled) = (Vec::new(), Vec::new());
        for Step { plan, from, to } in &steps {
            let bases = (from.address(), to.address());
            let ready = self.tables.find(plan, self, &map)?;
            singles.extend(ready.singles.iter().map(|single| at(*single, bases)));
            if let Some(table) = ready.table.clone() {
                tabled.push((ready, table, bases));
            }
        }
        let alone = |singles| Launches { singles, ..Launches::default() };
        // One plan's nests are few, and need no table.
        let given = if steps.len() > 1 { gathered(singles) } else { alone(singles) };
        let is_table = !given.sections.is_empty();
        let table = is_table.then(|| self.tables.copy(&given.table, self, &map)).transpose()?;
        let tables = tabled.iter().map(|(_, table, _)| table.clone()).chain(table.clone());
        let used: Vec<Span> = steps.into_iter().flat_map(|step| [step.from, step.to]).chain(tables).collect();
        self.give(operation, used, |stream, _| {
            let tabled = tabled.iter().map(|(ready, table, bases)| (&ready.sections, table, *bases));
            let gathered = table.iter().map(|table| (&given.sections, table, (0, 0)));
            // SAFETY: launches touch what the plans select, which lies within the spans; these, and those of the tables, are kept until
            // the stream is past them, and it is behind the copies of the tables; the caller promised the rest.
            unsafe {
                given.singles.iter().try_for_each(|single| self.kernels.launch(stream, single, (0, 0)))?;
                for (sections, table, bases) in tabled.chain(gathered) {
                    for section in sections {
                        self.kernels.launch_section(stream, section, table.address(), bases)?;
                    }
                }
            }
            Ok(())
        })
    }

    /// The signal of an event that is recorded now.
    fn signal(
        &self,
        record: impl FnOnce(&Kept, &Stream) -> Result<Arc<Spare<Event>>, Code>,
    ) -> Result<Arc<dyn Signal>, DeviceError> {
        self.context.enter()?;
        let event = record(&self.kept, &self.stream);
        let event = event.map_err(|code| self.context.fault("recording an event", code))?;
        Ok(Arc::new(CudaSignal { event, kept: Arc::clone(&self.kept), context: Arc::clone(&self.context) }))
    }

    /// The stream of calls, in the context that was entered.
    fn calls(&self) -> Result<&Stream, Code> {
        if let Some(calls) = self.calls.get() {
            return Ok(calls);
        }
        let made = Stream::new(true)?;
        Ok(self.calls.get_or_init(|| made))
    }
}

impl Queue for CudaQueue {
    unsafe fn copy(&self, from: Span, to: Span) -> Result<(), DeviceError> {
        if from.is_empty() {
            return self.context.check();
        }
        self.give("a copy", [from, to], |stream, [from, to]| {
            // SAFETY: the spans are kept until the stream is past them; the caller promised the rest.
            unsafe { stream.copy(from.address(), to.address(), from.len()) }
        })
    }

    unsafe fn copy_rows(&self, rows: Rows, from: Span, to: Span) -> Result<(), DeviceError> {
        self.give("a copy of rows", [from, to], |stream, [from, to]| {
            // SAFETY: the spans are kept until the stream is past them, and have all rows; the caller promised the rest.
            unsafe { stream.copy_rows(rows, from.address(), to.address()) }
        })
    }

    unsafe fn step(&self, plan: Arc<Plan>, from: Span, to: Span) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise.
        unsafe { self.give_steps("a step by a plan", vec![Step { plan, from, to }]) }
    }

    unsafe fn step_all(&self, steps: Vec<Step>) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise.
        unsafe { self.give_steps("steps by plans", steps) }
    }

    unsafe fn zero(&self, span: Span) -> Result<(), DeviceError> {
        if span.is_empty() {
            return self.context.check();
        }
        self.give("writing zeros", [span], |stream, [span]| {
            // SAFETY: the span is kept until the stream is past it; the caller promised the rest.
            unsafe { stream.zero(span.address(), span.len()) }
        })
    }

    fn record(&self) -> Result<Arc<dyn Signal>, DeviceError> {
        self.signal(Kept::record)
    }

    fn stamp(&self) -> Result<Arc<dyn Signal>, DeviceError> {
        self.signal(Kept::stamp)
    }

    fn wait(&self, signal: &Arc<dyn Signal>) -> Result<(), DeviceError> {
        self.context.enter()?;
        let signal: &dyn Any = &**signal;
        let signal: &CudaSignal = signal.downcast_ref().expect("streams check whose event it is");
        let given = self.stream.wait(&signal.event);
        given.map_err(|code| self.context.fault("waiting for an event", code))
    }

    fn call(&self, call: Call) -> Result<(), DeviceError> {
        self.context.enter()?;
        let given = self.kept.record(&self.stream).and_then(|here| {
            let calls = self.calls()?;
            calls.wait(&here)?;
            calls.call(call)
        });
        given.map_err(|code| self.context.fault("a call back", code))
    }

    fn keep(&self, span: Span) -> Result<(), DeviceError> {
        self.give("keeping memory", [span], |_, _| Ok(()))
    }

    unsafe fn compute(&self, _kernel: Kernel, _sources: Vec<Span>, _target: Span) -> Result<(), DeviceError> {
        let cause = "its kernels are not closures: launch them on the stream's raw name";
        Err(DeviceError::refused(self.context.info(), "a kernel", cause))
    }

    fn raw(&self) -> *mut c_void {
        self.stream.raw()
    }
}

impl Drop for CudaQueue {
    fn drop(&mut self) {
        // If the device is lost, nothing uses its memory any more.
        if self.context.enter().is_ok() && self.kept.record(&self.stream).is_ok() && !self.kept.is_past_all()
        {
            self.context.leave(Arc::clone(&self.kept));
        }
    }
}
