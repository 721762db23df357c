//! Queue of a stream of a software device: commands on their way to the stream's thread, or to the virtual time in which they happen.
//!
//! Since the device is lost, commands are dropped with the memory they keep, and who is to be called is called: a sleeper then sees the error. The
//! thread ends when nobody can give it commands any more and all are done.

#![expect(unsafe_code, reason = "implements a trait whose copies are unsafe")]

#[cfg(feature = "sim")]
use crate::backend::sleep_until_done;
use crate::backend::{Call, Kernel, Queue, Rows, Signal, Step};
use crate::memory::mapping::Mapping;
use crate::memory::span::Span;
use crate::software::command::{Command, Work};
use crate::software::faults::Chances;
use crate::software::mapped::Mapped;
use crate::software::shared::Shared;
use crate::software::signal::SoftwareSignal;
#[cfg(feature = "sim")]
use crate::software::virtual_time::VirtualStream;
use crate::tables::Tables;
use crate::words::error::DeviceError;
use chare_layout::Plan;
use parking_lot::Mutex;
use std::any::Any;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

pub(crate) struct SoftwareQueue {
    shared: Arc<Shared>,
    tables: Arc<Tables>,
    carrier: Carrier,
    chances: Mutex<Chances>,
}

/// Who carries commands out.
pub(super) enum Carrier {
    Thread(Sender<Command>),
    #[cfg(feature = "sim")]
    Virtual(VirtualStream),
}

impl Carrier {
    /// A thread of the stream's own.
    pub(super) fn thread(shared: &Arc<Shared>, chances: Chances) -> Result<Self, DeviceError> {
        let (commands, receiver) = channel();
        let worked = Arc::clone(shared);
        let thread = std::thread::Builder::new().name("software-stream".to_owned());
        let started = thread.spawn(move || work(&receiver, &worked, chances));
        started.map_err(|error| DeviceError::refused(shared.info(), "starting a stream", error))?;
        Ok(Self::Thread(commands))
    }
}

/// Does commands until there is nobody left who could send any.
fn work(commands: &Receiver<Command>, shared: &Shared, mut chances: Chances) {
    for command in commands {
        let delay = chances.delay();
        if !delay.is_zero() && shared.check().is_ok() {
            std::thread::sleep(delay);
        }
        command.strike(shared, &mut chances);
        let is_lost = shared.check().is_err();
        match command {
            Command::Call(call) => call(),
            _ if is_lost => {}
            Command::Work(work) => work.carry_out(shared),
            Command::Fire(signal) => signal.fire(),
            Command::Wait(signal) => signal.sleep_until_fired(),
            Command::Keep(span) => drop(span),
        }
    }
}

impl SoftwareQueue {
    pub(super) fn new(
        shared: &Arc<Shared>,
        tables: &Arc<Tables>,
        carrier: Carrier,
        chances: Chances,
    ) -> Self {
        let (shared, tables) = (Arc::clone(shared), Arc::clone(tables));
        Self { shared, tables, carrier, chances: Mutex::new(chances) }
    }

    /// Steps, each with its table if it has one: the plan itself carries it out else.
    fn send_steps(&self, steps: Vec<Step>) -> Result<(), DeviceError> {
        let map = |domain, bytes| {
            let mapped = Mapped::create(self.shared.info(), domain, bytes)?;
            Ok(Box::new(mapped) as Box<dyn Mapping>)
        };
        let ready = |step: Step| Ok((self.tables.find(&step.plan, self, &map)?, step));
        let steps = steps.into_iter().map(ready).collect::<Result<_, DeviceError>>()?;
        self.send_work(Work::Steps(steps))
    }

    fn send(&self, operation: &'static str, command: Command) -> Result<(), DeviceError> {
        self.shared.check()?;
        if self.chances.lock().refuses() {
            return Err(DeviceError::refused(self.shared.info(), operation, "its faults said so"));
        }
        match &self.carrier {
            Carrier::Thread(commands) => {
                commands.send(command).expect("the stream's thread lives as long as this end");
            }
            #[cfg(feature = "sim")]
            Carrier::Virtual(stream) => stream.give(command),
        }
        Ok(())
    }

    fn send_work(&self, work: Work) -> Result<(), DeviceError> {
        self.send(work.name(), Command::Work(work))
    }
}

impl Queue for SoftwareQueue {
    unsafe fn copy(&self, from: Span, to: Span) -> Result<(), DeviceError> {
        self.send_work(Work::Copy(from, to))
    }

    unsafe fn copy_rows(&self, rows: Rows, from: Span, to: Span) -> Result<(), DeviceError> {
        self.send_work(Work::CopyRows(rows, from, to))
    }

    unsafe fn step(&self, plan: Arc<Plan>, from: Span, to: Span) -> Result<(), DeviceError> {
        self.send_steps(vec![Step { plan, from, to }])
    }

    unsafe fn step_all(&self, steps: Vec<Step>) -> Result<(), DeviceError> {
        self.send_steps(steps)
    }

    unsafe fn zero(&self, span: Span) -> Result<(), DeviceError> {
        self.send_work(Work::Zero(span))
    }

    unsafe fn compute(&self, kernel: Kernel, sources: Vec<Span>, target: Span) -> Result<(), DeviceError> {
        self.send_work(Work::Compute(kernel, sources, target))
    }

    fn record(&self) -> Result<Arc<dyn Signal>, DeviceError> {
        let signal = Arc::new(SoftwareSignal::new(&self.shared));
        self.send("recording an event", Command::Fire(Arc::clone(&signal)))?;
        Ok(signal)
    }

    fn stamp(&self) -> Result<Arc<dyn Signal>, DeviceError> {
        self.record()
    }

    fn wait(&self, signal: &Arc<dyn Signal>) -> Result<(), DeviceError> {
        let signal: Arc<dyn Any + Send + Sync> = Arc::clone(signal) as _;
        let signal = signal.downcast().expect("streams check whose event it is");
        self.send("waiting for an event", Command::Wait(signal))
    }

    fn call(&self, call: Call) -> Result<(), DeviceError> {
        self.send("a call back", Command::Call(call))
    }

    #[cfg(feature = "sim")]
    fn finish(&self) -> Result<(), DeviceError> {
        match &self.carrier {
            Carrier::Thread(_) => sleep_until_done(self),
            Carrier::Virtual(stream) => stream.finish(&self.shared),
        }
    }

    fn keep(&self, span: Span) -> Result<(), DeviceError> {
        self.send("keeping memory", Command::Keep(span))
    }

    fn raw(&self) -> *mut c_void {
        std::ptr::null_mut()
    }
}
