//! Queue of a stream of a CUDA device.

#![expect(unsafe_code, reason = "gives copies and kernels to a stream of the driver")]

use crate::backend::{Call, Kernel, Queue, Rows, Signal, Step};
use crate::cuda::context::Context;
use crate::cuda::fused::fused;
use crate::cuda::kept::Kept;
use crate::cuda::launch::{Launch, Nest, Piece, Shape, THREADS, launches};
use crate::cuda::signal::CudaSignal;
use crate::cuda::sys::{Code, Function, Module, Stream};
use crate::memory::span::Span;
use crate::words::error::DeviceError;
use chare_layout::Plan;
use std::any::Any;
use std::ffi::{CStr, c_void};
use std::sync::Arc;

/// The kernels of `kernels/step.cu`, by the bits of their words.
pub(crate) struct Kernels {
    nest: [Function; 5],
    pieces: [Function; 5],
    nests: [Function; 5],
    /// Keeps them loaded.
    _module: Module,
}

impl Kernels {
    /// Loads them into the context that was entered.
    pub(crate) fn load() -> Result<Self, Code> {
        const PTX: &CStr =
            match CStr::from_bytes_with_nul(concat!(include_str!("../../kernels/step.ptx"), "\0").as_bytes())
            {
                Ok(text) => text,
                Err(_) => panic!("the kernels are one text"),
            };
        let module = Module::load(PTX)?;
        let all = |names: [&CStr; 5]| -> Result<[Function; 5], Code> {
            let mut functions = Vec::with_capacity(names.len());
            for name in names {
                functions.push(module.function(name)?);
            }
            Ok(std::array::from_fn(|word_bits| functions[word_bits]))
        };
        let nest = all([c"step_nest_1", c"step_nest_2", c"step_nest_4", c"step_nest_8", c"step_nest_16"])?;
        let pieces =
            all([c"step_pieces_1", c"step_pieces_2", c"step_pieces_4", c"step_pieces_8", c"step_pieces_16"])?;
        let nests =
            all([c"step_nests_1", c"step_nests_2", c"step_nests_4", c"step_nests_8", c"step_nests_16"])?;
        Ok(Self { nest, pieces, nests, _module: module })
    }
}

/// Fields are dropped in this order: the context is the last.
pub(crate) struct CudaQueue {
    stream: Stream,
    kept: Arc<Kept>,
    kernels: Arc<Kernels>,
    context: Arc<Context>,
}

impl CudaQueue {
    /// A stream of the context that was entered.
    pub(crate) fn new(context: &Arc<Context>, kernels: &Arc<Kernels>, stream: Stream) -> Self {
        let (context, kernels) = (Arc::clone(context), Arc::clone(kernels));
        Self { stream, kept: Arc::default(), kernels, context }
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

    /// # Safety
    /// As for [`Stream::launch`].
    unsafe fn launch(&self, launch: &Launch) -> Result<(), Code> {
        match launch {
            // SAFETY: the caller's promise.
            Launch::Copy(Piece { source, target, bytes }) => unsafe {
                self.stream.copy(*source, *target, *bytes)
            },
            // SAFETY: the caller's promise.
            Launch::Nest(nest, shape) => unsafe { self.launch_nest(*nest, *shape) },
            // SAFETY: the caller's promise, for the pieces of the table, whose copy is the stream's.
            Launch::Pieces(pieces, shape) => self.stream.with_table(pieces, |table| unsafe {
                self.launch_pieces(table, pieces.len() as u64, *shape)
            }),
            // SAFETY: the caller's promise, for the nests of the table, whose copy is the stream's.
            Launch::Nests(jobs, blocks, shape) => self.stream.with_table(jobs, |table| unsafe {
                self.launch_nests(table, jobs.len() as u64, *blocks, *shape)
            }),
        }
    }

    /// # Safety
    /// As for [`Stream::launch`], for what the nest names.
    unsafe fn launch_nest(&self, mut nest: Nest, shape: Shape) -> Result<(), Code> {
        let (kernel, mut lane_bits) = (self.kernels.nest[shape.word_bits as usize], shape.lane_bits);
        let mut arguments: [*mut c_void; 2] = [(&raw mut nest).cast(), (&raw mut lane_bits).cast()];
        // SAFETY: the kernel takes a nest and a number of 32 bits; the rest is the caller's promise.
        unsafe { self.stream.launch(kernel, shape.blocks, THREADS, &mut arguments) }
    }

    /// # Safety
    /// As for [`Stream::launch`], for what the pieces at `table` name.
    unsafe fn launch_pieces(&self, mut table: u64, mut count: u64, shape: Shape) -> Result<(), Code> {
        let (kernel, mut lane_bits) = (self.kernels.pieces[shape.word_bits as usize], shape.lane_bits);
        let mut arguments: [*mut c_void; 3] =
            [(&raw mut table).cast(), (&raw mut count).cast(), (&raw mut lane_bits).cast()];
        // SAFETY: the kernel takes an address, a number of 64 bits and one of 32; the rest is the caller's promise.
        unsafe { self.stream.launch(kernel, shape.blocks, THREADS, &mut arguments) }
    }

    /// # Safety
    /// As for [`Stream::launch`], for what the nests at `table` name.
    unsafe fn launch_nests(
        &self,
        mut table: u64,
        mut count: u64,
        mut blocks: u64,
        shape: Shape,
    ) -> Result<(), Code> {
        let (kernel, mut lane_bits) = (self.kernels.nests[shape.word_bits as usize], shape.lane_bits);
        let mut arguments: [*mut c_void; 4] = [
            (&raw mut table).cast(),
            (&raw mut count).cast(),
            (&raw mut blocks).cast(),
            (&raw mut lane_bits).cast(),
        ];
        // SAFETY: the kernel takes an address, two numbers of 64 bits and one of 32; the rest is the caller's promise.
        unsafe { self.stream.launch(kernel, shape.blocks, THREADS, &mut arguments) }
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
        self.give("a step by a plan", [from, to], |_, [from, to]| {
            let launches = launches(&plan, from.address(), to.address());
            // SAFETY: launches touch what the plan selects, which lies within the spans, which are kept until the stream is past them; the
            // caller promised the rest.
            launches.iter().try_for_each(|launch| unsafe { self.launch(launch) })
        })
    }

    unsafe fn step_all(&self, steps: Vec<Step>) -> Result<(), DeviceError> {
        let addresses = steps.iter().map(|step| (&*step.plan, step.from.address(), step.to.address()));
        let launches = fused(addresses);
        let spans = steps.into_iter().flat_map(|step| [step.from, step.to]);
        self.give("steps by plans", spans.collect::<Vec<Span>>(), |_, _| {
            // SAFETY: as in `step`, for all of them.
            launches.iter().try_for_each(|launch| unsafe { self.launch(launch) })
        })
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
        self.context.enter()?;
        let event = self.kept.record(&self.stream);
        let event = event.map_err(|code| self.context.fault("recording an event", code))?;
        Ok(Arc::new(CudaSignal { event, kept: Arc::clone(&self.kept), context: Arc::clone(&self.context) }))
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
        self.stream.call(call).map_err(|code| self.context.fault("a call back", code))
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
