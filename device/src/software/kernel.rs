//! Kernels of a software device: closures that its threads call with the bytes that a command names.

#![expect(unsafe_code, reason = "shows a closure the memory that a command names")]

use crate::backend::Kernel;
use crate::memory::span::Span;
use crate::software::mapped::working_address;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls a kernel.
///
/// # Errors
/// What it said when it panicked: the target then holds a part of what it was to hold.
///
/// # Safety
/// Until this returns nobody else writes the sources or touches the target, which shares no byte with them.
pub(crate) unsafe fn compute(kernel: Kernel, sources: &[Span], target: &Span) -> Result<(), String> {
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
