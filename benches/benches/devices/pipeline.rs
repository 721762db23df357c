//! Pipeline: blocks of one buffer to blocks of another by way of the host, in chunks whose stages overlap, beside ways that wait for each
//! stage: the vector program of MV2-GPU-NC.

use crate::bed::{Bed, Fallible, every_second};
use crate::blocking::{Between, Scheme};
use crate::row::{Row, Table};
use crate::staging::to_host;
use chare_device::{DeviceBuffer, DeviceBufferMut, Landed, Method, Pinned, Priority, Stream};
use chare_layout::{Plan, Raw};
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::yield_now;

/// Chunks that are out at a time.
const DEPTH: usize = 4;

/// What is selected at most: the seed's longest message.
const BYTES_MAX: u64 = 4 << 20;

/// How it is carried in chunks, of how many bytes; the last two wait for each stage.
const CHUNKED: [(&str, Method, u64); 6] = [
    ("chunks of 64 KiB", Method::Packed, 64 << 10),
    ("chunks of 256 KiB", Method::Packed, 256 << 10),
    ("chunks of 512 KiB", Method::Packed, 512 << 10),
    ("chunks of 1 MiB", Method::Packed, 1 << 20),
    ("packed on the device, copy, send", Method::Packed, BYTES_MAX),
    ("a copy for each block, then send", Method::Blocks, BYTES_MAX),
];

pub(crate) fn measure(bed: &Bed, table: &mut Table) -> Fallible {
    let lengths: &[u64] = match bed.quick {
        true => &[64 << 10, BYTES_MAX],
        false => &[4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, BYTES_MAX],
    };
    // Blocks of 4 bytes are the seed's.
    for (bytes, block) in lengths.iter().flat_map(|bytes| [(*bytes, 4), (*bytes, 4096)]) {
        let ceiling = to_host(bed, bytes)?;
        let layout = every_second(bytes, block)?;
        for (side, method, chunk_bytes) in CHUNKED {
            // Chunks as long as all of it are the last two.
            if chunk_bytes >= bytes && chunk_bytes < BYTES_MAX {
                continue;
            }
            let mut ends = Ends::new(bed, &layout, method, chunk_bytes)?;
            let took = bed.timed(|| ends.carry())?;
            table.add(Row { part: "pipeline", side, bytes, block }, took, ceiling);
        }
        let mut between = Between::new(bed, bytes, block)?;
        for scheme in Scheme::ALL {
            let took = bed.timed(|| between.carry(scheme))?;
            table.add(Row { part: "pipeline", side: scheme.sent(), bytes, block }, took, ceiling);
        }
        let sent = bed.timed(|| {
            between.send();
            Ok(())
        })?;
        table.add(Row { part: "pipeline", side: "the copy on the host alone", bytes, block }, sent, ceiling);
    }
    Ok(())
}

/// Two buffers of one device, a stream for each way, and the plans of each chunk: out of the one, into the other.
struct Ends<'a> {
    bed: &'a Bed,
    from: DeviceBuffer<u8>,
    to: DeviceBufferMut<u8>,
    into: Stream,
    method: Method,
    chunks: Vec<(Arc<Plan>, Arc<Plan>)>,
}

impl<'a> Ends<'a> {
    fn new(bed: &'a Bed, layout: &Raw, method: Method, chunk_bytes: u64) -> Fallible<Self> {
        let bytes = layout.bytes();
        let chunk = |start: u64| {
            let range = start..bytes.min(start + chunk_bytes);
            let plans = (Plan::pack_range(layout, range.clone())?, Plan::unpack_range(layout, range)?);
            Ok((Arc::new(plans.0), Arc::new(plans.1)))
        };
        Ok(Self {
            bed,
            from: bed.shared(2 * bytes)?,
            to: bed.zeroed(2 * bytes)?,
            into: bed.device.stream(Priority::Normal)?,
            method,
            chunks: (0..bytes).step_by(chunk_bytes as usize).map(chunk).collect::<Fallible<_>>()?,
        })
    }

    /// Carries all chunks, `DEPTH` of them at a time: out of the device, from the host to the host, into the device.
    fn carry(&mut self) -> Fallible {
        let Self { bed, from, to, into, method, chunks } = self;
        let mut out: VecDeque<(Landed<u8>, &Arc<Plan>)> = VecDeque::with_capacity(DEPTH);
        for (pack, unpack) in chunks.iter() {
            if out.len() == DEPTH {
                let (landed, plan) = out.pop_front().expect("there are some");
                pass_on(bed, to, into, *method, landed, plan)?;
            }
            out.push_back((from.stage_by(*method, &bed.stream, pack)?, unpack));
        }
        for (landed, plan) in out {
            pass_on(bed, to, into, *method, landed, plan)?;
        }
        let end = into.record()?;
        while !end.is_complete()? {
            yield_now();
        }
        Ok(())
    }
}

/// Copies what has landed to other pinned memory, as a network does, and gives that to the target's stream.
fn pass_on(
    bed: &Bed,
    to: &mut DeviceBufferMut<u8>,
    into: &Stream,
    method: Method,
    mut landed: Landed<u8>,
    plan: &Arc<Plan>,
) -> Fallible {
    let mut received: Pinned = bed.device.pinned(plan.bytes())?;
    loop {
        if let Some(elements) = landed.elements()? {
            received.bytes().expect("nobody else has it").copy_from_slice(elements);
            break;
        }
        yield_now();
    }
    Ok(to.unstage_by(method, into, plan, received)?)
}
