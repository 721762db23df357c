//! Measurement of a device: each method, timed for chunks and blocks of several lengths.

use super::table::{BLOCK_BYTES, COLUMNS, LENGTHS, Table};
use crate::buffer::exclusive::DeviceBufferMut;
use crate::device::Device;
use crate::method::{Method, Way};
use crate::stream::Stream;
use crate::words::error::DeviceError;
use crate::words::info::Priority;
use chare_layout::{LayoutError, Plan, Raw};
use std::sync::Arc;
use std::time::Duration;

/// Copies of one chunk that are tried at most: more are slower than a step on any device.
const COPIES_MAX: u64 = 256;

/// Rows of one chunk that are tried at most: a copy engine takes one after the other, and more take it longer than a step. An estimate.
const ROWS_MAX: u64 = 64 << 10;

/// Runs of which the one in the middle counts, after one that does not: a device fetches its code and maps its memory in the first.
const RUNS: usize = 3;

pub(super) fn measure(device: &Device) -> Result<Table, DeviceError> {
    let (stream, mut table) = (device.stream(Priority::Normal)?, Table::default());
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
                        timed(&mut || run(device, &stream, (method, way), &plan))?;
                }
            }
            let plan = Arc::new(plan(Way::Out, blocks, block)?);
            table.pulled[row][column] = timed(&mut || pull(device, &stream, &plan))?;
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
    stream: &Stream,
    (method, way): (Method, Way),
    plan: &Arc<Plan>,
) -> Result<Duration, DeviceError> {
    let mut buffer = DeviceBufferMut::<u8>::new(device, 2 * plan.bytes() as usize)?;
    let staged = device.pinned(plan.bytes())?;
    match way {
        Way::Out => {
            drop(staged);
            let shared = buffer.freeze();
            time_of(stream, || shared.stage_by(method, stream, plan).map(drop))
        }
        Way::In => time_of(stream, || buffer.unstage_by(method, stream, plan, staged).map(drop)),
    }
}

/// A step within the device: what another process shows of the same device is memory of this one, too.
fn pull(device: &Device, stream: &Stream, plan: &Arc<Plan>) -> Result<Duration, DeviceError> {
    let source = DeviceBufferMut::<u8>::new(device, 2 * plan.bytes() as usize)?.freeze();
    let mut target = DeviceBufferMut::<u8>::new(device, plan.bytes() as usize)?;
    time_of(stream, || target.step_from(stream, plan, &source))
}

/// How long a stream takes for what `give` gives it, by the device's own time: nobody who waits has to wake up for it to be over.
fn time_of(stream: &Stream, give: impl FnOnce() -> Result<(), DeviceError>) -> Result<Duration, DeviceError> {
    let began = stream.stamp()?;
    give()?;
    let over = stream.stamp()?;
    stream.finish()?;
    Ok(Duration::from_nanos(over.nanoseconds_since(&began)?))
}

#[cfg(all(test, feature = "sim"))]
mod tests {
    use super::*;
    use crate::software::Software;
    use crate::software::virtual_time::{DeviceSpeeds, VirtualTime};

    /// A device whose host hears of an end after a second: what wakes up then has no part in what was measured.
    #[test]
    fn samples_are_what_the_device_takes_and_not_who_waits_for_it() {
        let speeds = DeviceSpeeds {
            outward: 16 << 20,
            inward: 8 << 20,
            within: 1 << 30,
            copy: Duration::from_millis(1),
            callback: Duration::from_secs(1),
            ..DeviceSpeeds::default()
        };
        let time = VirtualTime::new(speeds, || 0, |_| ());
        let table = measure(&Software::default().open_within(&time, 0, 0)).expect("it has room");
        // Of 1 MiB in one block: a copy, and a step that writes over the bus.
        let whole = |way, method| table.times(way, method)[3][COLUMNS - 1];
        let milliseconds = |count: f64| Some(Duration::from_nanos((count * 1e6) as u64));
        assert_eq!(whole(Way::Out, Method::Blocks), milliseconds(63.5));
        assert_eq!(whole(Way::Out, Method::OneShot), milliseconds(62.5));
        assert_eq!(whole(Way::In, Method::Blocks), milliseconds(126.0));
        assert_eq!(table.pulled[3][COLUMNS - 1], milliseconds(0.976_563));
    }
}
