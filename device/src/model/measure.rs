//! Measurement of a device: each method, timed for chunks and blocks of several lengths.

use super::table::{BLOCK_BYTES, CHUNK_BYTES, COLUMNS, Table};
use crate::buffer::exclusive::DeviceBufferMut;
use crate::device::Device;
use crate::method::{Method, Way};
use crate::stream::Stream;
use crate::words::bell::Bell;
use crate::words::error::DeviceError;
use crate::words::priority::Priority;
use chare_layout::{LayoutError, Plan, Raw};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Copies of one chunk that are tried at most: more are slower than a step on any device.
const COPIES_MAX: u64 = 256;

/// Runs of which the one in the middle counts, after one that does not: a device fetches its code and maps its memory in the first.
const RUNS: usize = 3;

pub(super) fn measure(device: &Device) -> Result<Table, DeviceError> {
    let (stream, mut table) = (device.stream(Priority::Normal)?, Table::default());
    let bell =
        Bell::new().map_err(|error| DeviceError::refused(device.info(), "making a descriptor", error))?;
    for (row, chunk) in CHUNK_BYTES.into_iter().enumerate() {
        for column in 0..COLUMNS {
            let block = BLOCK_BYTES.get(column).copied().unwrap_or(chunk);
            let tried = Method::ALL.into_iter();
            for method in tried.filter(|method| *method != Method::Blocks || chunk / block <= COPIES_MAX) {
                for way in [Way::Out, Way::In] {
                    let plan = Arc::new(plan(way, chunk / block, block)?);
                    let mut times = [Duration::ZERO; RUNS + 1];
                    for time in &mut times {
                        *time = run(device, (&stream, &bell), (method, way), &plan)?;
                    }
                    times[1..].sort_unstable();
                    table.times_mut(way, method)[row][column] = Some(times[1 + RUNS / 2]);
                }
            }
        }
    }
    Ok(table)
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
    stream.ring(bell)?;
    let waited = bell.wait();
    waited.map_err(|error| DeviceError::refused(device.info(), "waiting for it", error))?;
    let took = began.elapsed();
    // Also: whether the device is still there.
    stream.record()?.is_complete()?;
    Ok(took)
}
