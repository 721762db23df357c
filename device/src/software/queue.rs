//! Queue of a stream of a software device: commands on their way to the stream's thread.

#![expect(unsafe_code, reason = "implements a trait whose copies are unsafe")]

use crate::backend::{Call, Kernel, Queue, Rows, Signal, Step};
use crate::memory::span::Span;
use crate::software::faults::Chances;
use crate::software::shared::Shared;
use crate::software::signal::SoftwareSignal;
use crate::software::worker::{COPY, Command, KERNEL, STEP, ZERO, work};
use crate::words::error::DeviceError;
use chare_layout::Plan;
use parking_lot::Mutex;
use std::any::Any;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

pub(crate) struct SoftwareQueue {
    shared: Arc<Shared>,
    commands: Sender<Command>,
    chances: Mutex<Chances>,
}

impl SoftwareQueue {
    /// Starts the stream's thread.
    pub(crate) fn start(shared: &Arc<Shared>, chances: [Chances; 2]) -> Result<Self, DeviceError> {
        let [here, there] = chances;
        let (commands, receiver) = channel();
        let worked = Arc::clone(shared);
        let thread = std::thread::Builder::new().name("software-stream".to_owned());
        let started = thread.spawn(move || work(&receiver, &worked, there));
        started.map_err(|error| DeviceError::refused(shared.info(), "starting a stream", error))?;
        Ok(Self { shared: Arc::clone(shared), commands, chances: Mutex::new(here) })
    }

    fn send(&self, operation: &'static str, command: Command) -> Result<(), DeviceError> {
        self.shared.check()?;
        if self.chances.lock().refuses() {
            return Err(DeviceError::refused(self.shared.info(), operation, "its faults said so"));
        }
        self.commands.send(command).expect("the stream's thread lives as long as this end");
        Ok(())
    }
}

impl Queue for SoftwareQueue {
    unsafe fn copy(&self, from: Span, to: Span) -> Result<(), DeviceError> {
        self.send(COPY, Command::Copy(from, to))
    }

    unsafe fn copy_rows(&self, rows: Rows, from: Span, to: Span) -> Result<(), DeviceError> {
        self.send(COPY, Command::CopyRows(rows, from, to))
    }

    unsafe fn step(&self, plan: Arc<Plan>, from: Span, to: Span) -> Result<(), DeviceError> {
        self.send(STEP, Command::Steps(vec![Step { plan, from, to }]))
    }

    unsafe fn step_all(&self, steps: Vec<Step>) -> Result<(), DeviceError> {
        self.send(STEP, Command::Steps(steps))
    }

    unsafe fn zero(&self, span: Span) -> Result<(), DeviceError> {
        self.send(ZERO, Command::Zero(span))
    }

    unsafe fn compute(&self, kernel: Kernel, sources: Vec<Span>, target: Span) -> Result<(), DeviceError> {
        self.send(KERNEL, Command::Compute(kernel, sources, target))
    }

    fn record(&self) -> Result<Arc<dyn Signal>, DeviceError> {
        let signal = Arc::new(SoftwareSignal::new(&self.shared));
        self.send("recording an event", Command::Fire(Arc::clone(&signal)))?;
        Ok(signal)
    }

    fn wait(&self, signal: &Arc<dyn Signal>) -> Result<(), DeviceError> {
        let signal: Arc<dyn Any + Send + Sync> = Arc::clone(signal) as _;
        let signal = signal.downcast().expect("streams check whose event it is");
        self.send("waiting for an event", Command::Wait(signal))
    }

    fn call(&self, call: Call) -> Result<(), DeviceError> {
        self.send("a call back", Command::Call(call))
    }

    fn keep(&self, span: Span) -> Result<(), DeviceError> {
        self.send("keeping memory", Command::Keep(span))
    }

    fn raw(&self) -> *mut c_void {
        std::ptr::null_mut()
    }
}
