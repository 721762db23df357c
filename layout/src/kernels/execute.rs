//! Plans carried out: steps, nests and walks, each to the kernel that its shape asks for.

#![expect(unsafe_code, reason = "copies between memory that others may touch")]

use super::streaming::{self, Streamed};
use super::{blocks, fields, indexed, lines, transposed, walked};
use crate::plan::Plan;
use crate::plan::nest::{Nest, Pair};
use crate::plan::pieces::Pieces;
use crate::plan::step::{Listed, Step};

impl Plan {
    /// Copies from the buffer at `source` to that at `target`.
    ///
    /// It makes no reference to either, so a peer may have them mapped. What it stored is visible to whoever sees a later
    /// store of this thread that is a release.
    ///
    /// # Safety
    /// From `source` on, all that the source layout selects may be read, and from `target` on, all that the target layout
    /// selects may be written ([`check_bounds`](Plan::check_bounds) compares with their lengths). They share no byte, and nobody
    /// else writes what is read or touches what is written meanwhile.
    pub unsafe fn run(&self, source: *const u8, target: *mut u8) {
        // SAFETY: the caller's promise; the steps touch what the layouts select.
        unsafe { self.run_as(Streamed::of(self.footprint()), source, target) };
    }

    /// As [`run`](Plan::run), with these stores past the caches.
    ///
    /// # Safety
    /// As for [`run`](Plan::run).
    pub(crate) unsafe fn run_as(&self, streamed: Streamed, source: *const u8, target: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { run_steps(&self.steps, source, target, streamed) };
        if streamed != Streamed::None {
            lines::fence();
        }
    }
}

impl Pieces {
    /// Copies one piece from the buffer at `source` to that at `target`.
    ///
    /// # Panics
    /// If there is no such piece.
    ///
    /// # Safety
    /// As for [`Plan::run`], for what this piece copies. Threads may copy different pieces at the same time.
    pub unsafe fn run(&self, piece: usize, source: *const u8, target: *mut u8) {
        let streamed = Streamed::of(self.footprint);
        // SAFETY: the caller's promise; a piece touches what the plan does.
        unsafe { run_steps(&self.pieces[piece].steps, source, target, streamed) };
        if streamed != Streamed::None {
            lines::fence();
        }
    }
}

/// # Safety
/// What the steps touch, counted from `source` and `target`, may be read, or written; they share no byte.
unsafe fn run_steps(steps: &[Step], source: *const u8, target: *mut u8, streamed: Streamed) {
    for step in steps {
        // SAFETY: the caller's promise covers each step; bases move to where the step counts from.
        unsafe { run_step(step, source, target, streamed) };
    }
}

/// # Safety
/// As for [`run_steps`].
unsafe fn run_step(step: &Step, source: *const u8, target: *mut u8, streamed: Streamed) {
    let moved =
        |by: (&i64, &i64)| (source.wrapping_offset(*by.0 as isize), target.wrapping_offset(*by.1 as isize));
    // SAFETY: the caller's promise, in each case for the places that the step names.
    unsafe {
        match step {
            Step::Nest(nest) => {
                let (source, target) = moved((&nest.source, &nest.target));
                run_nest(nest, &nest.loops, source, target, streamed);
            }
            Step::Loop { source, target, loops, steps } => {
                let (source, target) = moved((source, target));
                run_loops(loops, steps, source, target, streamed);
            }
            Step::List { source, target, list, listed } => {
                let (source, target) = moved((source, target));
                let list = list.list().expect("plans list lists");
                indexed::listed(source, target, list, *listed);
            }
            Step::Lists { source, target, from, to } => {
                let (source, target) = moved((source, target));
                indexed::paired((source, from), (target, to));
            }
            Step::Each { source, target, offsets, listed, stride, steps } => {
                let (source, target) = moved((source, target));
                let mut dense = 0_isize;
                for offset in offsets.iter().map(|offset| *offset as isize) {
                    let (from, to) = match listed {
                        Listed::Source => (offset, dense),
                        Listed::Target => (dense, offset),
                    };
                    run_steps(steps, source.wrapping_offset(from), target.wrapping_offset(to), streamed);
                    dense = dense.wrapping_add(*stride as isize);
                }
            }
            Step::Zip { source: from, target: to, at, bytes } => {
                walked::zip((from, source), (to, target), *at, *bytes);
            }
        }
    }
}

/// # Safety
/// As for [`run_steps`], for the steps at each step of the loops.
unsafe fn run_loops(
    loops: &[Pair],
    steps: &[Step],
    mut source: *const u8,
    mut target: *mut u8,
    streamed: Streamed,
) {
    let Some((outer, rest)) = loops.split_first() else {
        // SAFETY: the caller's promise.
        unsafe { run_steps(steps, source, target, streamed) };
        return;
    };
    if rest.is_empty()
        && let Some(blocks) = fields::lone_blocks(steps)
    {
        // SAFETY: the caller's promise is that of the fields at each step of the loop.
        unsafe { fields::by_strips(source, target, *outer, blocks) };
        return;
    }
    for _ in 0..outer.count {
        // SAFETY: the bases are at a step of the loop.
        unsafe { run_loops(rest, steps, source, target, streamed) };
        source = source.wrapping_offset(outer.source as isize);
        target = target.wrapping_offset(outer.target as isize);
    }
}

/// # Safety
/// As for [`run_steps`], for the block at each step of the loops.
unsafe fn run_nest(
    nest: &Nest,
    loops: &[Pair],
    mut source: *const u8,
    mut target: *mut u8,
    streamed: Streamed,
) {
    let block = nest.block;
    // SAFETY: the caller's promise; in the last case the bases are at a step of the outermost loop.
    unsafe {
        match loops {
            [] => std::ptr::copy_nonoverlapping(source, target, block as usize),
            [row] => {
                if streamed.has(*row, block, target) {
                    streaming::row(source, target, *row, block);
                } else {
                    blocks::strided(source, target, *row, block);
                }
            }
            [rows, columns] if nest.is_transposed => {
                transposed::tiled(source, target, *rows, *columns, block);
            }
            [outer, rest @ ..] => {
                for _ in 0..outer.count {
                    run_nest(nest, rest, source, target, streamed);
                    source = source.wrapping_offset(outer.source as isize);
                    target = target.wrapping_offset(outer.target as isize);
                }
            }
        }
    }
}
