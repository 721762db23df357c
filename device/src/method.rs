#![expect(unsafe_code, reason = "gives copies and steps whose callers promise what no type can")]
//! Methods: how bytes of a layout on a device get to lie packed in pinned memory, and back.

use crate::device::Device;
use crate::memory::span::Span;
use crate::stream::Stream;
use crate::words::error::DeviceError;
use chare_layout::{Copies, Pair, Plan};
use std::fmt;
use std::sync::Arc;

/// How a stream copies by a plan between device memory and pinned memory, where the bytes lie side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// One step, whose kernel reads or writes the pinned memory itself.
    OneShot,
    /// A step within the device, and one copy; takes device memory for as many bytes until it is over. Where there is none, as [`OneShot`](Self::OneShot).
    Packed,
    /// A copy for each block.
    Blocks,
}

impl fmt::Display for Method {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::OneShot => "one step into pinned memory",
            Self::Packed => "packed on the device, then copied",
            Self::Blocks => "a copy for each block",
        })
    }
}

/// Which way the bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// From the device to pinned memory.
    Out,
    /// From pinned memory to the device.
    In,
}

impl Method {
    /// All of them, for tables.
    pub(crate) const ALL: [Self; 3] = [Self::OneShot, Self::Packed, Self::Blocks];

    /// Copies by a plan whose side in pinned memory is packed.
    ///
    /// # Errors
    /// Those of [`Stream::step`]. If it was refused, some may be copied.
    ///
    /// # Safety
    /// As for [`Stream::step`].
    pub(crate) unsafe fn carry_out(
        self,
        way: Way,
        (device, on): (&Device, &Stream),
        plan: &Arc<Plan>,
        (from, to): (&Span, &Span),
    ) -> Result<(), DeviceError> {
        match self {
            // SAFETY: the caller's promise.
            Self::OneShot => unsafe { on.step(plan, from, to) },
            Self::Packed => {
                plan.check_bounds(from.len(), to.len())?;
                let packed = match device.allocate(plan.bytes()) {
                    // SAFETY: the caller's promise.
                    Err(DeviceError::OutOfMemory { .. }) => return unsafe { on.step(plan, from, to) },
                    packed => packed?.span(),
                };
                // SAFETY: the caller's promise; nobody else has the memory between, whose two uses are on one stream.
                unsafe {
                    match way {
                        Way::Out => {
                            on.step(plan, from, &packed)?;
                            on.copy(&packed, &to.part(0..plan.bytes())?)
                        }
                        Way::In => {
                            on.copy(&from.part(0..plan.bytes())?, &packed)?;
                            on.step(plan, &packed, to)
                        }
                    }
                }
            }
            Self::Blocks => {
                plan.check_bounds(from.len(), to.len())?;
                let mut given = Ok(());
                plan.for_each_copy(&mut |Copies { source, target, block, loops, .. }| {
                    for_each_block((source, target), loops, &mut |(source, target)| {
                        if given.is_ok() {
                            // SAFETY: the caller's promise, for a block that the plan selects.
                            given = unsafe { copy_block(on, (from, source), (to, target), block) };
                        }
                    });
                });
                given
            }
        }
    }
}

/// # Safety
/// As for [`Stream::copy`].
unsafe fn copy_block(
    on: &Stream,
    (from, source): (&Span, i64),
    (to, target): (&Span, i64),
    bytes: u64,
) -> Result<(), DeviceError> {
    let part = |of: &Span, at: i64| of.part(at as u64..at as u64 + bytes);
    // SAFETY: the caller's promise.
    unsafe { on.copy(&part(from, source)?, &part(to, target)?) }
}

/// Calls with the places of each block of a nest.
fn for_each_block((source, target): (i64, i64), loops: &[Pair], call: &mut dyn FnMut((i64, i64))) {
    let Some((outer, rest)) = loops.split_first() else { return call((source, target)) };
    for step in 0..outer.count as i64 {
        let places = (source + step * outer.source, target + step * outer.target);
        for_each_block(places, rest, call);
    }
}
