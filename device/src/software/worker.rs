//! Worker of a stream of a software device: the thread that does its commands, one after the other.
//!
//! Since the device is lost, commands are dropped with the memory they keep, and who is to be called is called: a sleeper then sees the error. The
//! thread ends when nobody can give it commands any more and all are done.

#![expect(unsafe_code, reason = "copies between memory of the device")]

use crate::backend::{Call, Kernel, Rows, Step};
use crate::memory::span::Span;
use crate::software::faults::Chances;
use crate::software::kernel::compute;
use crate::software::mapped::working_address;
use crate::software::shared::Shared;
use crate::software::signal::SoftwareSignal;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

/// Words for what touches memory, in errors.
pub(crate) const COPY: &str = "a copy";
pub(crate) const STEP: &str = "a step by a plan";
pub(crate) const ZERO: &str = "writing zeros";
pub(crate) const KERNEL: &str = "a kernel";

/// What a stream is asked to do.
pub(crate) enum Command {
    /// Between spans of one length that share no byte, and that nobody else uses meanwhile.
    Copy(Span, Span),
    /// As a copy, for rows that lie within the spans, apart.
    CopyRows(Rows, Span, Span),
    /// Each within its spans; what is read and what is written nobody else uses meanwhile, and it shares no byte.
    Steps(Vec<Step>),
    /// Nobody else uses it meanwhile.
    Zero(Span),
    /// From the sources to the target, which shares no byte with them, and which nobody else uses meanwhile.
    Compute(Kernel, Vec<Span>, Span),
    Fire(Arc<SoftwareSignal>),
    Wait(Arc<SoftwareSignal>),
    Call(Call),
    /// The span is dropped when the stream is here.
    Keep(Span),
}

impl Command {
    /// What it does with memory, if it does.
    fn touches(&self) -> Option<&'static str> {
        match self {
            Self::Copy(..) | Self::CopyRows(..) => Some(COPY),
            Self::Steps(_) => Some(STEP),
            Self::Zero(_) => Some(ZERO),
            Self::Compute(..) => Some(KERNEL),
            Self::Fire(_) | Self::Wait(_) | Self::Call(_) | Self::Keep(_) => None,
        }
    }
}

/// Does commands until there is nobody left who could send any.
pub(crate) fn work(commands: &Receiver<Command>, shared: &Shared, mut chances: Chances) {
    for command in commands {
        let delay = chances.delay();
        if !delay.is_zero() && shared.check().is_ok() {
            std::thread::sleep(delay);
        }
        if chances.loses() {
            shared.lose("its faults said so");
        } else if let Some(operation) = command.touches()
            && chances.faults()
        {
            shared.lose(&format!("{operation}: an illegal address was touched (its faults said so)"));
        }
        let is_lost = shared.check().is_err();
        match command {
            Command::Call(call) => call(),
            _ if is_lost => {}
            Command::Copy(from, to) => {
                let (source, target) = (working_address(&from), working_address(&to));
                // SAFETY: both spans are mapped as long as they live, and of one length; who sent the command promised the rest.
                unsafe { std::ptr::copy_nonoverlapping(source, target, from.len() as usize) };
            }
            Command::CopyRows(rows, from, to) => {
                let (source, target) = (working_address(&from), working_address(&to));
                for row in 0..rows.count {
                    let (skipped, past) = ((row * rows.source) as usize, (row * rows.target) as usize);
                    // SAFETY: both spans are mapped as long as they live, and have all rows; who sent the command promised the rest.
                    unsafe {
                        std::ptr::copy_nonoverlapping(
                            source.add(skipped),
                            target.add(past),
                            rows.bytes as usize,
                        );
                    }
                }
            }
            Command::Steps(steps) => {
                for Step { plan, from, to } in &steps {
                    // SAFETY: both spans are mapped as long as they live, and have what the plan selects; who sent the command
                    // promised the rest.
                    unsafe { plan.run(working_address(from), working_address(to)) };
                }
            }
            Command::Zero(span) => {
                // SAFETY: the span is mapped as long as it lives; who sent the command promised the rest.
                unsafe { working_address(&span).write_bytes(0, span.len() as usize) };
            }
            Command::Compute(kernel, sources, target) => {
                // SAFETY: who sent the command promised it.
                if let Err(cause) = unsafe { compute(kernel, &sources, &target) } {
                    shared.lose(&format!("{KERNEL} panicked: {cause}"));
                }
            }
            Command::Fire(signal) => signal.fire(),
            Command::Wait(signal) => signal.sleep_until_fired(),
            Command::Keep(span) => drop(span),
        }
    }
}
