//! Measurement of a device: each method, timed for chunks and blocks of several lengths.

use super::table::{BLOCK_BYTES, COLUMNS, LENGTHS, Table};
use crate::buffer::exclusive::DeviceBufferMut;
use crate::device::Device;
use crate::method::{Method, Way};
use crate::stream::Stream;
use crate::words::bell::Bell;
use crate::words::error::DeviceError;
use crate::words::info::Priority;
use chare_layout::{LayoutError, Plan, Raw};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Copies of one chunk that are tried at most: more are slower than a step on any device.
const COPIES_MAX: u64 = 256;

/// Rows of one chunk that are tried at most: a copy engine takes one after the other, and more take it longer than a step. An estimate.
const ROWS_MAX: u64 = 64 << 10;

/// Runs of which the one in the middle counts, after one that does not: a device fetches its code and maps its memory in the first.
const RUNS: usize = 3;

pub(super) fn measure(device: &Device) -> Result<Table, DeviceError> {
    let (stream, mut table) = (device.stream(Priority::Normal)?, Table::default());
    let bell =
        Bell::new().map_err(|error| DeviceError::refused(device.info(), "making a descriptor", error))?;
    let timed = |run: &mut dyn FnMut() -> Result<Duration, DeviceError>| {
        let mut times = [Duration::ZERO; RUNS + 1];
        for time in &mut times {
            *time = run()?;
        }
        times[1..].sort_unstable();
        Ok::<_, DeviceError>(Some(times[1 + RUNS / 2]))
    };
    for (row, bytes) in LENGTHS.into_iter().enumerate() {
        for column in 0..COLUMNS {
            let block = BLOCK_BYTES.get(column).copied().filter(|block| *block < bytes).unwrap_or(bytes);
            let blocks = bytes / block;
            for method in Method::ALL.into_iter().filter(|method| is_tried(*method, blocks)) {
                for way in [Way::Out, Way::In] {
                    let plan = Arc::new(plan(way, blocks, block)?);
                    table.times_mut(way, method)[row][column] =
                        timed(&mut || run(device, (&stream, &bell), (method, way), &plan))?;
                }
            }
            let plan = Arc::new(plan(Way::Out, blocks, block)?);
            table.pulled[row][column] = timed(&mut || pull(device, (&stream, &bell), &plan))?;
        }
    }
    Ok(table)
}

fn is_tried(method: Method, blocks: u64) -> bool {
    match method {
        Method::OneShot | Method::Packed => true,
        Method::Rows => (2..=ROWS_MAX).contains(&blocks),
        Method::Blocks => blocks <= COPIES_MAX,
    }
}

/// So many blocks, each with a gap of its own length behind it.
fn plan(way: Way, count: u64, block: u64) -> Result<Plan, LayoutError> {
    let scattered = Raw::bytes_of(block)?.hvector(count, 1, 2 * block as i64)?;
    match way {
        Way::Out => Plan::pack(&scattered),
        Way::In => Plan::unpack(&scattered),
    }
}

fn run(
    device: &Device,
    (stream, bell): (&Stream, &Bell),
    (method, way): (Method, Way),
    plan: &Arc<Plan>,
) -> Result<Duration, DeviceError> {
    let mut buffer = DeviceBufferMut::<u8>::new(device, 2 * plan.bytes() as usize)?;
    let staged = device.pinned(plan.bytes())?;
    let began = match way {
        Way::Out => {
            drop(staged);
            let shared = buffer.freeze();
            let began = Instant::now();
            shared.stage_by(method, stream, plan)?;
            began
        }
        Way::In => {
            let began = Instant::now();
            buffer.unstage_by(method, stream, plan, staged)?;
            began
        }
    };
    finish(device, stream, bell)?;
    Ok(began.elapsed())
}

/// A step within the device: what another process shows of the same device is memory of this one, too.
fn pull(
    device: &Device,
    (stream, bell): (&Stream, &Bell),
    plan: &Arc<Plan>,
) -> Result<Duration, DeviceError> {
    let source = DeviceBufferMut::<u8>::new(device, 2 * plan.bytes() as usize)?.freeze();
    let mut target = DeviceBufferMut::<u8>::new(device, plan.bytes() as usize)?;
    let began = Instant::now();
    target.step_from(stream, plan, &source)?;
    finish(device, stream, bell)?;
    Ok(began.elapsed())
}

/// Sleeps until the stream has done all that it was given.
fn finish(device: &Device, stream: &Stream, bell: &Bell) -> Result<(), DeviceError> {
    stream.ring(bell)?;
    bell.wait().map_err(|error| DeviceError::refused(device.info(), "waiting for it", error))?;
    // Also: whether the device is still there.
    stream.record()?.is_complete().map(drop)
}
