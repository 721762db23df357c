//! Queue of a stream of a CUDA device.

#![expect(unsafe_code, reason = "gives copies and kernels to a stream of the driver")]

use crate::backend::{Call, Kernel, Queue, Rows, Signal, Step};
use crate::cuda::context::Context;
use crate::cuda::kept::Kept;
use crate::cuda::launch::{Launch, Nest, Piece, Shape, THREADS, fused, launches};
use crate::cuda::mapped::Mapped;
use crate::cuda::signal::CudaSignal;
use crate::cuda::sys::{Code, Function, Module, Pool, Primary, Stream};
use crate::cuda::tables::Tables;
use crate::memory::mapping::{Domain, Mapping};
use crate::memory::span::Span;
use crate::words::error::DeviceError;
use chare_layout::Plan;
use std::any::Any;
use std::ffi::{CStr, c_void};
use std::sync::{Arc, OnceLock};

/// The kernels of `kernels/step.cu`, by the bits of their words.
pub(crate) struct Kernels {
    nest: [Function; 5],
    pieces: [Function; 5],
    nests: [Function; 5],
    /// Memory of the device for their tables; a device without pools refuses steps that need some.
    memory: Result<Pool, Code>,
    /// Keeps them loaded.
    _module: Module,
}

impl Kernels {
    /// Loads them into the context that was entered, which is the primary one of a device.
    pub(crate) fn load(primary: &Primary) -> Result<Self, Code> {
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
        Ok(Self { nest, pieces, nests, memory: Pool::create(primary.device()), _module: module })
    }
}

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

    /// Gives the stream launches, whose tables it keeps beside the memory they use.
    ///
    /// # Safety
    /// As for [`Stream::launch`]; the launches touch what lies within the spans.
    unsafe fn carry_out(
        &self,
        operation: &'static str,
        launches: Vec<Launch>,
        used: impl IntoIterator<Item = Span>,
    ) -> Result<(), DeviceError> {
        let staged = launches.into_iter().map(|launch| {
            let table = launch.table().map(|table| self.stage(table)).transpose()?;
            Ok((launch, table))
        });
        let staged: Vec<(Launch, Option<Span>)> = staged.collect::<Result<_, DeviceError>>()?;
        let tables: Vec<Span> = staged.iter().filter_map(|(_, table)| table.clone()).collect();
        self.give(operation, used.into_iter().chain(tables), |_, _| {
            // SAFETY: the caller's promise; the spans, and those of the tables, are kept until the stream is past them.
            staged.iter().try_for_each(|(launch, table)| unsafe { self.launch(launch, table.as_ref()) })
        })
    }

    /// The stream of calls, in the context that was entered.
    fn calls(&self) -> Result<&Stream, Code> {
        if let Some(calls) = self.calls.get() {
            return Ok(calls);
        }
        let made = Stream::new(true)?;
        Ok(self.calls.get_or_init(|| made))
    }

    fn stage(&self, table: &[u8]) -> Result<Span, DeviceError> {
        self.tables.stage(table, |bytes| {
            let mapped = Mapped::create(&self.context, Domain::Host, bytes)?;
            Ok(Box::new(mapped) as Box<dyn Mapping>)
        })
    }

    /// # Safety
    /// As for [`Stream::launch`]; its table, if it has one, is kept until the stream is past it.
    unsafe fn launch(&self, launch: &Launch, table: Option<&Span>) -> Result<(), Code> {
        let with_table = |use_it: &dyn Fn(u64) -> Result<(), Code>| {
            let (table, pool) =
                (table.expect("it was staged"), self.kernels.memory.as_ref().map_err(|code| *code)?);
            // SAFETY: the caller's promise; nobody writes a table once it was staged.
            unsafe { self.stream.with_table(pool, (table.address(), table.len()), use_it) }
        };
        match launch {
            // SAFETY: the caller's promise.
            Launch::Copy(Piece { source, target, bytes }) => unsafe {
                self.stream.copy(*source, *target, *bytes)
            },
            // SAFETY: the caller's promise.
            Launch::Nest(nest, shape) => unsafe { self.launch_nest(*nest, *shape) },
            Launch::Pieces(pieces, shape) => with_table(&|table| {
                // SAFETY: the caller's promise, for the pieces of the table, whose copy is the stream's.
                unsafe { self.launch_pieces(table, pieces.len() as u64, *shape) }
            }),
            Launch::Nests(jobs, blocks, shape) => with_table(&|table| {
                // SAFETY: the caller's promise, for the nests of the table, whose copy is the stream's.
                unsafe { self.launch_nests(table, jobs.len() as u64, *blocks, *shape) }
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
        let launches = launches(&plan, from.address(), to.address());
        // SAFETY: launches touch what the plan selects, which lies within the spans; the caller promised the rest.
        unsafe { self.carry_out("a step by a plan", launches, [from, to]) }
    }

    unsafe fn step_all(&self, steps: Vec<Step>) -> Result<(), DeviceError> {
        let addresses = steps.iter().map(|step| (&*step.plan, step.from.address(), step.to.address()));
        let launches = fused(addresses);
        let spans: Vec<Span> = steps.into_iter().flat_map(|step| [step.from, step.to]).collect();
        // SAFETY: as in `step`, for all of them.
        unsafe { self.carry_out("steps by plans", launches, spans) }
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
