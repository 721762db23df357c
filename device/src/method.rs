//! Methods: how bytes of a layout on a device get to lie packed in pinned memory, and back.

#![expect(unsafe_code, reason = "gives copies and steps whose callers promise what no type can")]

use crate::backend::{Pitch, Rows};
use crate::device::Device;
use crate::memory::span::Span;
use crate::stream::{Lanes, Stream};
use crate::words::error::DeviceError;
use chare_layout::{Copies, Pair, Plan};
use std::fmt;
use std::sync::Arc;

/// How streams copy by a plan between device memory and pinned memory, where the bytes lie side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// One step, whose kernel reads or writes the pinned memory itself.
    OneShot,
    /// A step within the device, and one copy; takes device memory for as many bytes until it is over. Where there is none, as [`OneShot`](Self::OneShot).
    Packed,
    /// One copy of two dimensions for each innermost loop of the plan, or of three for the two innermost ones where planes stand at whole rows.
    /// Rows that overlap, or that stand too far apart for the device, are copied as [`Blocks`](Self::Blocks).
    Rows,
    /// A copy for each block.
    Blocks,
}

impl fmt::Display for Method {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::OneShot => "one step into pinned memory",
            Self::Packed => "packed on the device, then copied",
            Self::Rows => "a copy of rows",
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

/// The longest distance between rows that copies of two dimensions take: what the attribute `MAX_PITCH` of all CUDA devices is.
const ROW_STRIDE_MAX: i64 = (1 << 31) - 1;

impl Method {
    /// All of them, in the order of their numbers: for tables.
    pub const ALL: [Self; 4] = [Self::OneShot, Self::Packed, Self::Rows, Self::Blocks];

    /// The stream that is past all of it when it is over.
    pub fn last<'a>(self, way: Way, lanes: Lanes<'a>) -> &'a Stream {
        match (self, way) {
            (Self::OneShot, _) | (Self::Packed, Way::In) => lanes.steps,
            (Self::Packed, Way::Out) | (Self::Rows | Self::Blocks, _) => lanes.copies,
        }
    }

    /// The stream that reads or writes the memory of the device.
    pub(crate) fn touching(self, lanes: Lanes<'_>) -> &Stream {
        match self {
            Self::OneShot | Self::Packed => lanes.steps,
            Self::Rows | Self::Blocks => lanes.copies,
        }
    }

    /// Copies by a plan whose side in pinned memory is packed.
    ///
    /// # Errors
    /// Those of [`Stream::step`]. If it was refused, some may be copied.
    ///
    /// # Safety
    /// As for [`Stream::step`], for the device's memory on the stream that [touches](Self::touching) it, for pinned memory on both.
    pub(crate) unsafe fn carry_out(
        self,
        way: Way,
        (device, lanes): (&Device, Lanes<'_>),
        plan: &Arc<Plan>,
        (from, to): (&Span, &Span),
    ) -> Result<(), DeviceError> {
        plan.check_bounds(from.len(), to.len())?;
        match self {
            // SAFETY: the caller's promise.
            Self::OneShot => unsafe { lanes.steps.step(plan, from, to) },
            // SAFETY: the caller's promise.
            Self::Packed => unsafe { pack(way, (device, lanes), plan, (from, to)) },
            Self::Rows | Self::Blocks => {
                let mut given = Ok(());
                plan.for_each_copy(&mut |Copies { source, target, block, loops, .. }| {
                    let one = Pair { count: 1, source: 0, target: 0 };
                    let (outer, plane, row) = match loops {
                        [outer @ .., plane, row] if self == Self::Rows && are_planes(plane, row, block) => {
                            (outer, *plane, *row)
                        }
                        [outer @ .., row] if self == Self::Rows && are_rows(row, block) => (outer, one, *row),
                        _ => (loops, one, one),
                    };
                    for_each_place((source, target), outer, &mut |(source, target)| {
                        if given.is_ok() {
                            // SAFETY: the caller's promise, for rows that the plan selects.
                            given = unsafe {
                                copy_rows(lanes.copies, (from, source), (to, target), block, (plane, row))
                            };
                        }
                    });
                });
                given
            }
        }
    }
}

/// A step to or from memory between, and a copy from or to pinned memory: each on its stream, so that the step of one chunk goes on while
/// another one is copied.
///
/// # Safety
/// As for [`Method::carry_out`].
unsafe fn pack(
    way: Way,
    (device, Lanes { steps, copies }): (&Device, Lanes<'_>),
    plan: &Arc<Plan>,
    (from, to): (&Span, &Span),
) -> Result<(), DeviceError> {
    let packed = match device.allocate(plan.bytes()) {
        Err(DeviceError::OutOfMemory { .. }) => None,
        packed => Some(packed?.span()),
    };
    // SAFETY: the caller's promise; nobody else has the memory between, whose two uses are in order.
    unsafe {
        match (way, packed) {
            (Way::Out, packed) => {
                steps.step(plan, from, packed.as_ref().unwrap_or(to))?;
                copies.wait_for(steps)?;
                packed.map_or(Ok(()), |packed| copies.copy(&packed, &to.part(0..plan.bytes())?))
            }
            (Way::In, None) => steps.step(plan, from, to),
            (Way::In, Some(packed)) => {
                copies.copy(&from.part(0..plan.bytes())?, &packed)?;
                steps.wait_for(copies)?;
                steps.step(plan, &packed, to)
            }
        }
    }
}

/// Whether one copy of two dimensions takes the blocks of a loop.
pub(crate) fn are_rows(row: &Pair, block: u64) -> bool {
    let strides = [row.source, row.target];
    strides
        .into_iter()
        .all(|stride| stride <= ROW_STRIDE_MAX && u64::try_from(stride).is_ok_and(|stride| stride >= block))
}

/// Whether one copy of three dimensions takes the blocks of two loops: planes stand at whole rows, and share none.
pub(crate) fn are_planes(plane: &Pair, row: &Pair, block: u64) -> bool {
    let sides = [(plane.source, row.source), (plane.target, row.target)];
    are_rows(row, block)
        && sides.into_iter().all(|(plane, stride)| {
            stride > 0
                && plane % stride == 0
                && u64::try_from(plane / stride).is_ok_and(|rows| rows >= row.count)
        })
}

/// # Safety
/// As for [`Stream::copy`].
unsafe fn copy_rows(
    on: &Stream,
    (from, source): (&Span, i64),
    (to, target): (&Span, i64),
    bytes: u64,
    (plane, row): (Pair, Pair),
) -> Result<(), DeviceError> {
    let pitch = |plane: i64, row: i64| Pitch { row: row as u64, rows: (plane / row.max(1)) as u64 };
    let rows = Rows {
        count: row.count,
        bytes,
        planes: plane.count,
        source: pitch(plane.source, row.source),
        target: pitch(plane.target, row.target),
    };
    let part = |of: &Span, at: i64, side| of.part(at as u64..at as u64 + rows.extent(side));
    let (from, to) = (part(from, source, rows.source)?, part(to, target, rows.target)?);
    if rows.planes * rows.count == 1 {
        // SAFETY: the caller's promise.
        return unsafe { on.copy(&from, &to) };
    }
    // SAFETY: the caller's promise; the spans begin with the first row and end with the last.
    unsafe { on.copy_rows(rows, &from, &to) }
}

/// Calls with the places at each step of the loops.
fn for_each_place((source, target): (i64, i64), loops: &[Pair], call: &mut dyn FnMut((i64, i64))) {
    let Some((outer, rest)) = loops.split_first() else { return call((source, target)) };
    for step in 0..outer.count as i64 {
        let places = (source + step * outer.source, target + step * outer.target);
        for_each_place(places, rest, call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_stand_at_whole_rows_and_share_none() {
        let pair = |count, stride| Pair { count, source: stride, target: stride };
        let row = pair(10, 32);
        for (stride, expected) in
            [(320, true), (352, true), (330, false), (288, false), (32, false), (-320, false)]
        {
            assert_eq!(are_planes(&pair(5, stride), &row, 24), expected, "{stride}");
        }
        assert!(!are_planes(&pair(5, 320), &pair(10, 16), 24), "rows overlap");
        assert!(!are_planes(&pair(5, 0), &pair(10, 0), 0), "they are nowhere");
    }

    /// A box of a field of three dimensions: one start of an engine.
    #[cfg(feature = "sim")]
    #[test]
    fn a_box_is_one_copy_and_rows_that_stand_apart_one_for_each_plane() {
        use crate::buffer::exclusive::DeviceBufferMut;
        use crate::software::Software;
        use crate::software::virtual_time::{DeviceSpeeds, VirtualTime};
        use crate::words::info::Priority;
        use chare_layout::{LayoutError, Raw};
        use std::time::Duration;

        let copy = Duration::from_micros(100);
        let launch = Duration::ZERO;
        let speeds = DeviceSpeeds { launch, copy, outward: 1_000_000_000, ..DeviceSpeeds::default() };
        let device = Software::default().open_within(&VirtualTime::new(speeds, || 0, |_| ()), 0, 0);
        let stream = device.stream(Priority::Normal).expect("a stream");
        let source = DeviceBufferMut::<u8>::new(&device, 100_000).expect("it has room").freeze();
        let time_of = |plane: i64| -> Result<u64, LayoutError> {
            let layout = Raw::bytes_of(100)?.hvector(10, 1, 200)?.hvector(5, 1, plane)?;
            let plan = Arc::new(Plan::pack(&layout)?);
            let began = stream.stamp().expect("an event");
            source.stage_by(Method::Rows, &stream, &plan).expect("it has room");
            let over = stream.stamp().expect("an event");
            stream.finish().expect("it is not lost");
            Ok(over.nanoseconds_since(&began).expect("both have fired"))
        };
        assert_eq!(time_of(4_000), Ok(100_000 + 5_000));
        assert_eq!(time_of(4_100), Ok(5 * (100_000 + 1_000)));
    }
}
