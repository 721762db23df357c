//! Tables of plans on the device: made and copied there when a plan comes for the first time, and found when it comes again.
//!
//! 1. A plan is found by what it does, so that one which was made anew for the next message is the same. A plan that needs no table is not kept.
//! 2. Tables have a bound in bytes, and in number. The plan that was used least recently goes first; its table goes when the last stream is
//!    past it.
//! 3. A stream that finds a table which another stream still copies waits for that one.
//! 4. On its way a table is in pinned memory of its own, which its stream keeps. That pool is not that of
//!    [`Device::pinned`](crate::Device::pinned): whoever stages transfers counts on all of that.
//! 5. What finds no room in either pool gets memory that is made for it alone, and goes with it: that takes the driver longer, but no step is
//!    refused because of earlier ones.
//! 6. Nothing is dropped under the lock.

#![expect(unsafe_code, reason = "has a queue copy tables")]

use crate::backend::{Queue, Signal};
use crate::launch::sections::Section;
use crate::launch::{Launches, Single};
use crate::memory::arena::Piece;
use crate::memory::block::Block;
use crate::memory::mapping::{Domain, Mapping};
use crate::memory::pinned::Pinned;
use crate::memory::pool::Pool;
use crate::memory::span::Span;
use crate::words::error::DeviceError;
use crate::words::info::Info;
use chare_layout::Plan;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of either pool: tables that are kept, and those that streams have not come to.
const POOL_BYTES: u64 = 64 << 20;

/// Bytes of the tables that are kept: half of the pool, so that those which streams still use have room beside them.
const KEPT_BYTES_MAX: u64 = POOL_BYTES / 2;

/// Plans that are kept: enough for the chunks of some long transfers; a search compares a few words of each.
const KEPT_PLANS_MAX: usize = 1024;

/// Maps so many bytes of pinned memory, or of the device.
pub(crate) type Map<'a> = &'a dyn Fn(Domain, u64) -> Result<Box<dyn Mapping>, DeviceError>;

pub(crate) struct Tables {
    owner: Arc<Info>,
    staging: Pool,
    memory: Pool,
    kept: Mutex<Kept>,
    kept_bytes_max: u64,
    /// Tables that were copied to the device, for who wants to know; it orders nothing.
    copied: AtomicU64,
}

/// Plans with what is ready of them and the bytes of their tables, the one that was used last at the end.
#[derive(Default)]
struct Kept {
    plans: Vec<(Arc<Plan>, Arc<Ready>, u64)>,
    bytes: u64,
}

/// What carries a plan out, with its table on the device, if it has one.
pub(crate) struct Ready {
    pub(crate) singles: Vec<Single>,
    pub(crate) sections: Vec<Section>,
    pub(crate) table: Option<Span>,
    /// Fires when the table is there; none once somebody has seen that.
    there: Mutex<Option<Arc<dyn Signal>>>,
}

impl Tables {
    pub(crate) fn new(owner: &Arc<Info>) -> Self {
        Self::bounded(owner, POOL_BYTES, KEPT_BYTES_MAX)
    }

    fn bounded(owner: &Arc<Info>, pool_bytes: u64, kept_bytes_max: u64) -> Self {
        let pool = |domain| Pool::new(owner, domain, pool_bytes);
        Self {
            owner: Arc::clone(owner),
            staging: pool(Domain::Host),
            memory: pool(Domain::Device),
            kept: Mutex::default(),
            kept_bytes_max,
            copied: AtomicU64::new(0),
        }
    }

    /// How many tables were copied to the device so far.
    pub(crate) fn copied(&self) -> u64 {
        self.copied.load(Ordering::Relaxed)
    }

    /// What carries a plan out on a queue, which is behind the copy of its table.
    pub(crate) fn find(
        &self,
        plan: &Arc<Plan>,
        on: &dyn Queue,
        map: Map<'_>,
    ) -> Result<Arc<Ready>, DeviceError> {
        if let Some(ready) = self.look_up(plan) {
            ready.wait(on)?;
            return Ok(ready);
        }
        let Launches { singles, sections, table } = Launches::of(plan);
        if sections.is_empty() {
            return Ok(Arc::new(Ready { singles, sections, table: None, there: Mutex::default() }));
        }
        let bytes = table.len() as u64;
        let table = Some(self.copy(&table, on, map)?);
        let there = Mutex::new(Some(on.record()?));
        let ready = Arc::new(Ready { singles, sections, table, there });
        self.keep(plan, &ready, bytes);
        Ok(ready)
    }

    /// Has a queue copy a table to memory of the device that nobody else has.
    pub(crate) fn copy(&self, table: &[u8], on: &dyn Queue, map: Map<'_>) -> Result<Span, DeviceError> {
        let bytes = table.len() as u64;
        let mut pinned = Pinned::new(self.cut(Domain::Host, bytes, map)?);
        pinned.bytes().expect("nobody else has a share in new memory").copy_from_slice(table);
        let there = Block::new(self.cut(Domain::Device, bytes, map)?).span();
        // SAFETY: nobody else has either memory, both of which the queue keeps until it is past the copy; nobody writes the target after it.
        unsafe { on.copy(pinned.span(), there.clone())? };
        self.copied.fetch_add(1, Ordering::Relaxed);
        Ok(there)
    }

    fn cut(&self, domain: Domain, bytes: u64, map: Map<'_>) -> Result<Piece, DeviceError> {
        let pool = if domain == Domain::Host { &self.staging } else { &self.memory };
        let map = |bytes| map(domain, bytes);
        match pool.cut(bytes, map) {
            // Its arena goes with the last share in the piece.
            Err(DeviceError::NoRoom { .. } | DeviceError::OutOfMemory { .. }) => {
                Pool::new(&self.owner, domain, u64::MAX).cut(bytes, map)
            }
            cut => cut,
        }
    }

    fn look_up(&self, plan: &Arc<Plan>) -> Option<Arc<Ready>> {
        let mut kept = self.kept.lock();
        let is_it = |(known, ..): &(Arc<Plan>, _, _)| Arc::ptr_eq(known, plan) || known == plan;
        let at = kept.plans.iter().rposition(is_it)?;
        kept.plans[at..].rotate_left(1);
        kept.plans.last().map(|(_, ready, _)| Arc::clone(ready))
    }

    /// Keeps a plan that has come for the first time, unless its table is too long; others go.
    fn keep(&self, plan: &Arc<Plan>, ready: &Arc<Ready>, bytes: u64) {
        if bytes > self.kept_bytes_max {
            return;
        }
        let mut gone = Vec::new();
        let mut kept = self.kept.lock();
        while kept.bytes + bytes > self.kept_bytes_max || kept.plans.len() == KEPT_PLANS_MAX {
            let oldest = kept.plans.remove(0);
            kept.bytes -= oldest.2;
            gone.push(oldest);
        }
        kept.bytes += bytes;
        kept.plans.push((Arc::clone(plan), Arc::clone(ready), bytes));
        drop(kept);
        drop(gone);
    }
}

impl Ready {
    /// Has a queue wait for the table, if it is not there.
    fn wait(&self, on: &dyn Queue) -> Result<(), DeviceError> {
        let Some(there) = self.there.lock().clone() else { return Ok(()) };
        if !there.is_complete()? {
            return on.wait(&there);
        }
        let seen = self.there.lock().take();
        drop(seen);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::software::Software;
    use crate::stream::Stream;
    use crate::words::info::Priority;
    use chare_layout::Layout;

    /// Single bytes at places that no loops go through; `seed` tells one list from another, `len` of them.
    fn list(len: i64, seed: i64) -> Arc<Plan> {
        let places: Vec<i64> = (0..len).map(|at| at * (at + seed) / 2 + at).collect();
        let layout = Layout::<u8>::indexed_block(1, &places).expect("it fits");
        Arc::new(Plan::pack(layout.raw()).expect("it fits"))
    }

    /// Steps by a plan, and looks at what came.
    fn check(device: &Device, stream: &Stream, plan: &Arc<Plan>) {
        let (mut source, mut target) =
            (device.pinned(100_000).expect("room"), device.pinned(1000).expect("room"));
        let bytes = source.bytes().expect("it is new");
        (0..100_000_u64).zip(&mut *bytes).for_each(|(at, byte)| *byte = (at * 31 % 251) as u8);
        let mut expected = vec![0; 1000];
        chare_layout::copy(plan, bytes, &mut expected).expect("it fits");
        let bytes = plan.bytes() as usize;
        // SAFETY: nobody else uses either memory.
        unsafe { stream.step(plan, &source.span(), &target.span()).expect("it fits") };
        stream.finish().expect("it is not lost");
        while target.bytes().is_none() {
            std::thread::yield_now();
        }
        assert!(target.bytes().expect("nobody has a share")[..bytes] == expected[..bytes], "{plan:?}");
    }

    #[test]
    fn the_second_message_of_a_layout_copies_no_table_whatever_its_stream() {
        let device = Software::default().open();
        let streams = [(); 2].map(|()| device.stream(Priority::Normal).expect("a stream"));
        for (at, plan) in [list(100, 3), list(100, 3), list(100, 5), list(100, 3)].into_iter().enumerate() {
            check(&device, &streams[at % 2], &plan);
        }
        assert_eq!(device.tables_copied(), 2, "a plan that was made anew is the same");
        let rows = Plan::pack(Layout::<u8>::vector(20, 3, 40).expect("it fits").raw()).expect("it fits");
        check(&device, &streams[0], &Arc::new(rows));
        assert_eq!(device.tables_copied(), 2, "a nest needs none");
    }

    /// A stream that does at once what it is given.
    fn queue(device: &Device) -> Box<dyn Queue> {
        device.backend().queue(Priority::Normal).expect("a stream")
    }

    #[test]
    fn what_was_used_least_recently_goes_and_its_memory_is_used_again() {
        let device = Software::default().open();
        let owner = Arc::new(device.info().clone());
        // Four bytes a piece: two tables of 100 fit, not three.
        let tables = Tables::bounded(&owner, 2 << 20, 1000);
        let queue = queue(&device);
        let map = |domain, bytes| device.backend().map(domain, bytes);
        let place = |seed: i64| {
            let ready = tables.find(&list(100, seed), &*queue, &map).expect("it has room");
            ready.table.as_ref().expect("a list needs a table").address()
        };
        let (first, second) = (place(3), place(5));
        assert_eq!((place(3), tables.copied()), (first, 2));
        place(7);
        assert_eq!((place(3), tables.copied()), (first, 3), "it was used after the other one");
        queue.finish().expect("it is not lost");
        assert_eq!((place(5), tables.copied()), (second, 4), "it had gone, and its memory was free");
        assert_eq!(tables.kept.lock().bytes, 800);

        let long = |seed| tables.find(&list(300, seed), &*queue, &map).map(drop).expect("it has room");
        long(9);
        long(9);
        assert_eq!(tables.copied(), 6, "what is longer than all that may be kept is not");
    }

    #[test]
    fn a_table_that_finds_no_room_has_memory_of_its_own() {
        let device = Software::default().open();
        let tables = Tables::bounded(&Arc::new(device.info().clone()), 2 << 20, 1 << 20);
        let queue = queue(&device);
        let map = |domain, bytes| device.backend().map(domain, bytes);
        let copy = |table: &[u8]| tables.copy(table, &*queue, &map).expect("there is room");
        let (first, second) = (copy(&[1; 1 << 20]), copy(&[2; 1 << 20]));
        assert!(!first.overlaps(&second), "the first stream may not have come to its table yet");
    }
}
