//! Commands of a stream of a software device, and how what touches memory is carried out.
//!
//! Kernels are closures that are called with the bytes that a command names.

#![expect(unsafe_code, reason = "copies between memory of the device, and shows it to closures")]

use crate::backend::{Call, Kernel, Rows, Step};
use crate::memory::span::Span;
use crate::software::faults::Chances;
use crate::software::mapped::working_address;
use crate::software::shared::Shared;
use crate::software::signal::SoftwareSignal;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What a stream is asked to do.
pub(crate) enum Command {
    Work(Work),
    Fire(Arc<SoftwareSignal>),
    Wait(Arc<SoftwareSignal>),
    Call(Call),
    /// The span is dropped when the stream is here.
    Keep(Span),
}

/// A command that touches memory.
pub(crate) enum Work {
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
}

impl Command {
    /// Loses the device here, if chance will have it.
    pub(crate) fn strike(&self, shared: &Shared, chances: &mut Chances) {
        if chances.loses() {
            shared.lose("its faults said so");
        } else if let Self::Work(work) = self
            && chances.faults()
        {
            shared.lose(&format!("{}: an illegal address was touched (its faults said so)", work.name()));
        }
    }
}

impl Work {
    /// What it is, in errors.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Copy(..) | Self::CopyRows(..) => "a copy",
            Self::Steps(_) => "a step by a plan",
            Self::Zero(_) => "writing zeros",
            Self::Compute(..) => "a kernel",
        }
    }

    /// Does it. A kernel that panics loses the device.
    pub(crate) fn carry_out(self, shared: &Shared) {
        match self {
            Self::Copy(from, to) => {
                let (source, target) = (working_address(&from), working_address(&to));
                // SAFETY: both spans are mapped as long as they live, and of one length; who sent the command promised the rest.
                unsafe { std::ptr::copy_nonoverlapping(source, target, from.len() as usize) };
            }
            Self::CopyRows(rows, from, to) => {
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
            Self::Steps(steps) => {
                for Step { plan, from, to } in &steps {
                    // SAFETY: both spans are mapped as long as they live, and have what the plan selects; who sent the command
                    // promised the rest.
                    unsafe { plan.run(working_address(from), working_address(to)) };
                }
            }
            Self::Zero(span) => {
                // SAFETY: the span is mapped as long as it lives; who sent the command promised the rest.
                unsafe { working_address(&span).write_bytes(0, span.len() as usize) };
            }
            Self::Compute(kernel, sources, target) => {
                // SAFETY: who sent the command promised it.
                if let Err(cause) = unsafe { compute(kernel, &sources, &target) } {
                    shared.lose(&format!("a kernel panicked: {cause}"));
                }
            }
        }
    }
}

/// Calls a kernel.
///
/// # Errors
/// What it said when it panicked: the target then holds a part of what it was to hold.
///
/// # Safety
/// Until this returns nobody else writes the sources or touches the target, which shares no byte with them.
unsafe fn compute(kernel: Kernel, sources: &[Span], target: &Span) -> Result<(), String> {
    let bytes = |span: &Span| (working_address(span), span.len() as usize);
    let read = |span: &Span| {
        let (start, len) = bytes(span);
        // SAFETY: the span is mapped as long as it lives, and all its bytes came initialised from the system; nobody writes them.
        let slice: &[u8] = unsafe { std::slice::from_raw_parts(start, len) };
        slice
    };
    let sources: Vec<&[u8]> = sources.iter().map(read).collect();
    let (start, len) = bytes(target);
    // SAFETY: as above, and nobody else touches them.
    let target = unsafe { std::slice::from_raw_parts_mut(start, len) };
    // What a panic leaves half done is memory of a device that is lost.
    catch_unwind(AssertUnwindSafe(|| kernel(&sources, target))).map_err(|cause| words_of(&*cause))
}

fn words_of(cause: &(dyn Any + Send)) -> String {
    let text = cause.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| cause.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without words".to_owned())
}
