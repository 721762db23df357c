//! The limit: two threads that make nothing but the copies which a collective needs.
//!
//! 1. Each member has the buffers that it has on our side, in memory of the same kind. The members take turns at the threads, and a member's
//!    thread writes its new contents before the clock starts.
//! 2. The copies are made by the same kernels and cut into the pieces in which two processes share a copy. One thread takes pieces from the
//!    front, the other from the back, until they meet; so each makes those of its own members as long as there are such.
//! 3. Both begin and end at a barrier at which they spin. There is no message.

#![expect(unsafe_code, reason = "two threads copy between memory that both map, as processes do")]

use crate::dealing;
use chare_benches::{Batches, every_second_run, processor, take_seat};
use chare_layout::{Layout, LayoutError, Partition, Pieces, Plan};
use chare_lrts::mapping::Mapping;
use chare_lrts::reach::PIECE_BYTES;
use std::hint::spin_loop;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const THREADS: usize = 2;

/// Measures the copies of an operation with `bytes` of each of so many members, which lie in runs of so many bytes if not side by side.
pub(crate) fn play(
    what: &str,
    batches: Batches,
    (bytes, run): (usize, usize),
    members: usize,
) -> io::Result<()> {
    let room = if run > 0 { 2 * bytes } else { bytes };
    let buffers = |count, len| (0..count).map(|_| memory(len)).collect::<io::Result<Vec<_>>>();
    let sources = buffers(members, room)?;
    let targets = if what == "gather" { buffers(1, members * bytes) } else { buffers(members, room) }?;
    let copy = |((source, from), (target, to)): (End, End)| {
        Copy::new((&sources[source], &from), (&targets[target], &to))
    };
    let copies: Result<_, _> = needed(what, (bytes, run), members).into_iter().map(copy).collect();
    measure(batches, &sources, &Shared::of(copies.map_err(io::Error::other)?));
    Ok(())
}

/// The number of a buffer, and what of it is copied.
type End = (usize, Layout<f64>);

/// The copies that an operation needs, from where to where; those of the first thread's members come first.
fn needed(what: &str, (bytes, run): (usize, usize), members: usize) -> Vec<(End, End)> {
    let in_turn = (0..THREADS).flat_map(|thread| (thread..members).step_by(THREADS));
    let part = |parts: &Partition<f64>, member| parts.part(member).expect("each has a part");
    let selected = match run {
        0 => Layout::contiguous((bytes / 8) as u64).expect("doubles"),
        run => every_second_run(bytes, run),
    };
    let shown = |to| ((0, selected.clone()), (to, selected.clone()));
    match what {
        "copies" => in_turn.map(shown).collect(),
        "elsewhere" => in_turn.filter(|to| *to != 0).map(shown).collect(),
        "gather" => {
            let parts = dealing::of_gathered(members, bytes, run);
            in_turn.map(|from| ((from, selected.clone()), (0, part(&parts, from)))).collect()
        }
        _ => {
            let [dealt, placed] = dealing::of_slabs(members, bytes, what == "transposition");
            let pairs = in_turn.flat_map(|to| (0..members).map(move |from| (from, to)));
            pairs.map(|(from, to)| ((from, part(&dealt, to)), (to, part(&placed, from)))).collect()
        }
    }
}

/// Memory of the kind that pools of shared memory have.
fn memory(len: usize) -> io::Result<Mapping> {
    let (mapping, _) = Mapping::create("limit", len)?;
    mapping.populate(0, len);
    Ok(mapping)
}

/// A copy from layout to layout.
struct Copy<'a> {
    pieces: Pieces,
    source: &'a Mapping,
    target: &'a Mapping,
}

impl<'a> Copy<'a> {
    fn new(
        (source, from): (&'a Mapping, &Layout<f64>),
        (target, to): (&'a Mapping, &Layout<f64>),
    ) -> Result<Self, LayoutError> {
        let plan = Plan::new(from, to)?;
        plan.check_bounds(source.len() as u64, target.len() as u64)?;
        // As processes cut a copy that they share.
        let pieces = plan.pieces((plan.bytes() / 16).clamp(4 << 10, PIECE_BYTES as u64));
        Ok(Self { pieces, source, target })
    }
}

/// What the threads share.
struct Shared<'a> {
    copies: Vec<Copy<'a>>,
    /// Copies and their pieces.
    pieces: Vec<(usize, usize)>,
    /// Pieces that were asked for, from either end.
    taken: AtomicUsize,
    /// Threads that have come to a barrier. Written by each; its release pairs with the acquire of who waits.
    arrived: AtomicUsize,
}

impl<'a> Shared<'a> {
    fn of(copies: Vec<Copy<'a>>) -> Self {
        let numbers = copies.iter().enumerate();
        let pieces = numbers.flat_map(|(copy, all)| (0..all.pieces.len()).map(move |piece| (copy, piece)));
        let pieces = pieces.collect();
        Self { copies, pieces, taken: AtomicUsize::new(0), arrived: AtomicUsize::new(0) }
    }

    /// Waits until all threads are here.
    fn meet(&self) {
        let all = (self.arrived.fetch_add(1, Ordering::AcqRel) + 1).next_multiple_of(THREADS);
        while self.arrived.load(Ordering::Acquire) < all {
            spin_loop();
        }
    }

    /// Copies pieces from one end until all are taken.
    fn copy(&self, is_at_front: bool) {
        let mut own = 0;
        // Both together take as many as there are: so those from one end never meet those from the other.
        while self.taken.fetch_add(1, Ordering::Relaxed) < self.pieces.len() {
            let place = if is_at_front { own } else { self.pieces.len() - 1 - own };
            let (copy, piece) = self.pieces[place];
            let Copy { pieces, source, target } = &self.copies[copy];
            // SAFETY: bounds were checked; both mappings live. The piece is this thread's alone, no two write the same byte, and sources are
            // written before or after a barrier.
            unsafe { pieces.run(piece, source.address(), target.address()) };
            own += 1;
        }
    }
}

fn measure(batches: Batches, sources: &[Mapping], shared: &Shared<'_>) {
    let operate = |thread: usize, number: f64| {
        for source in sources.iter().skip(thread).step_by(THREADS) {
            let first = source.address().cast::<f64>();
            // SAFETY: whole doubles of a mapping, aligned to a page. Before the barrier nobody else touches this member's contents.
            unsafe { std::slice::from_raw_parts_mut(first, source.len() / 8) }.fill(number);
        }
        if thread == 0 {
            shared.taken.store(0, Ordering::Relaxed);
        }
        shared.meet();
        let began = Instant::now();
        shared.copy(thread == 0);
        shared.meet();
        began.elapsed()
    };
    let batch = |thread, operations| -> Duration {
        (0..operations).map(|number| operate(thread, number as f64)).sum()
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            take_seat(processor(1));
            // The first batch is not told.
            batch(1, batches.operations * u64::from(batches.count + 1));
        });
        take_seat(processor(0));
        batches.run(|operations| batch(0, operations));
    });
}
