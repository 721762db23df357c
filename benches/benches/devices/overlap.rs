//! Overlap: what a product takes while other streams carry bytes between the device and the host, beside a product alone.

use crate::bed::{Bed, Fallible, Kind, every_second};
use crate::product::Product;
use crate::row::{Row, Table};
use chare_device::{DeviceBuffer, DeviceBufferMut, Event, Method, Priority, Stream};
use chare_layout::Plan;
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::yield_now;
use std::time::Instant;

/// What goes each way in one transfer, and the blocks of it that lie apart.
const BYTES: u64 = 4 << 20;
const BLOCK: u64 = 256;

/// Transfers that are out at a time.
const DEPTH: usize = 4;

/// What is carried meanwhile.
const SIDES: [(&str, Method, u64); 3] = [
    // One block: the engine that copies, and no kernel.
    ("beside copies", Method::Blocks, BYTES),
    ("beside steps and copies", Method::Packed, BLOCK),
    ("beside steps into pinned memory", Method::OneShot, BLOCK),
];

pub(crate) fn measure(bed: &Bed, table: &mut Table) -> Fallible {
    let side = match (bed.kind, bed.quick) {
        (Kind::Software, true) => 128,
        (Kind::Software, false) => 512,
        #[cfg(feature = "cuda")]
        (Kind::Cuda, quick) => {
            if quick {
                2048
            } else {
                4096
            }
        }
    };
    let mut product = Product::new(bed, side)?;
    let (bytes, block) = (product.bytes(), product.bytes());
    let alone = bed.time(1, || product.give(bed))?;
    product.check(bed)?;
    table.add(Row { part: "overlap", side: "alone", bytes, block }, alone, alone);
    for (side, method, block_bytes) in SIDES {
        let mut traffic = Traffic::new(bed, method, block_bytes)?;
        let took = bed.samples(|| {
            traffic.keep_going()?;
            let began = Instant::now();
            product.give(bed)?;
            let end = bed.stream.record()?;
            while !end.is_complete()? {
                traffic.keep_going()?;
                yield_now();
            }
            Ok(began.elapsed())
        })?;
        product.check(bed)?;
        table.add(Row { part: "overlap", side, bytes, block }, took, alone);
    }
    Ok(())
}

/// Transfers out of the device and into it, each on a stream of its own.
struct Traffic<'a> {
    bed: &'a Bed,
    method: Method,
    plans: [Arc<Plan>; 2],
    from: DeviceBuffer<u8>,
    to: DeviceBufferMut<u8>,
    streams: [Stream; 2],
    under_way: VecDeque<[Event; 2]>,
}

impl<'a> Traffic<'a> {
    fn new(bed: &'a Bed, method: Method, block: u64) -> Fallible<Self> {
        let layout = every_second(BYTES, block)?;
        Ok(Self {
            bed,
            method,
            plans: [Plan::pack(&layout)?, Plan::unpack(&layout)?].map(Arc::new),
            from: bed.shared(2 * BYTES)?,
            to: bed.zeroed(2 * BYTES)?,
            streams: [bed.device.stream(Priority::Normal)?, bed.device.stream(Priority::Normal)?],
            under_way: VecDeque::new(),
        })
    }

    /// Gives as many more as may be under way.
    fn keep_going(&mut self) -> Fallible {
        while let Some([out, into]) = self.under_way.front() {
            if !out.is_complete()? || !into.is_complete()? {
                break;
            }
            self.under_way.pop_front();
        }
        while self.under_way.len() < DEPTH {
            let ([pack, unpack], [out, into]) = (&self.plans, &self.streams);
            // What has landed is dropped: its memory is given back when the stream is past it.
            drop(self.from.stage_by(self.method, out, pack)?);
            self.to.unstage_by(self.method, into, unpack, self.bed.device.pinned(BYTES)?)?;
            self.under_way.push_back([out.record()?, into.record()?]);
        }
        Ok(())
    }
}
