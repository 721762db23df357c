//! Stretches of a selection: the ranges of a peer's memory that are fetched for it, which hold all that is selected, and little else.
//!
//! What lies between the arrays of one argument may be longer than all of them, and others' memory, or none: no page of it is asked for.

use crate::model::nocopy::selected::{Fetched, copy_fetched};
use chare_layout::Plan;
use chare_lrts::{Memory, MemoryMut};
use std::ops::Range;

/// Ranges of the source of a plan, in the order of their places.
pub(super) struct Stretches(Vec<Range<u64>>);

impl Stretches {
    /// What a plan that counts from the first byte of its source reads of it, joined where fewer than so many bytes lie between. One pass over
    /// its blocks.
    pub(super) fn of(plan: &Plan, between: u64) -> Self {
        let mut all: Vec<Range<u64>> = Vec::new();
        plan.for_each_copy(&mut |copies| {
            copies.for_each_block(&mut |source, _| {
                let run = source as u64..source as u64 + copies.block;
                if !all.last_mut().is_some_and(|last| joins(last, &run, between)) {
                    all.push(run);
                }
            });
        });
        all.sort_unstable_by_key(|stretch| stretch.start);
        all.dedup_by(|next, last| joins(last, next, between));
        Self(all)
    }

    pub(super) fn nth(&self, place: usize) -> Option<&Range<u64>> {
        self.0.get(place)
    }

    /// Copies what a plan selects out of the memories that were filled from these stretches.
    pub(super) fn scatter(&self, plan: &Plan, memories: impl Iterator<Item = Memory>, into: &mut MemoryMut) {
        let fetched =
            self.0.iter().zip(memories).map(|(stretch, memory)| Fetched { at: stretch.start, memory });
        let fetched: Vec<_> = fetched.collect();
        let copied = copy_fetched(plan, &fetched, into);
        copied.unwrap_or_else(|error| unreachable!("the layouts were checked: {error}"));
    }
}

/// Joins a run to a stretch, if fewer than so many bytes lie between. Returns whether it did.
fn joins(stretch: &mut Range<u64>, run: &Range<u64>, between: u64) -> bool {
    let is_near = run.start < stretch.end + between && stretch.start < run.end + between;
    if is_near {
        *stretch = stretch.start.min(run.start)..stretch.end.max(run.end);
    }
    is_near
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::ways;
    use chare_layout::{LayoutError, Raw};

    const PAGE_BYTES: u64 = ways::gap_bytes(false);

    /// Where the stretches begin and end that hold what a layout selects.
    fn stretches(selected: &Raw) -> Result<Vec<(u64, u64)>, LayoutError> {
        let stretches = Stretches::of(&Plan::pack(selected)?, PAGE_BYTES);
        Ok(stretches.0.iter().map(|stretch| (stretch.start, stretch.end)).collect())
    }

    #[test]
    fn runs_with_less_than_a_page_between_them_are_one_stretch() -> Result<(), LayoutError> {
        let byte = Raw::bytes_of(1)?;
        let page = PAGE_BYTES as i64;
        let two = |second| Raw::sequence(&[(0, &byte), (second, &byte)]);
        assert_eq!(stretches(&two(page)?)?, [(0, PAGE_BYTES + 1)]);
        assert_eq!(stretches(&two(page + 1)?)?, [(0, 1), (PAGE_BYTES + 1, PAGE_BYTES + 2)]);
        assert_eq!(stretches(&byte.hvector(1000, 1, page)?)?, [(0, 999 * PAGE_BYTES + 1)]);
        assert!(stretches(&byte.hvector(0, 1, page)?)?.is_empty());
        Ok(())
    }

    #[test]
    fn stretches_do_not_depend_on_the_order_of_their_runs() -> Result<(), LayoutError> {
        let piece = Raw::bytes_of(100)?;
        let pieces = [(1 << 40, &piece), (0, &piece), ((1 << 40) + 50, &piece), (3000, &piece)];
        assert_eq!(stretches(&Raw::sequence(&pieces)?)?, [(0, 3100), (1 << 40, (1 << 40) + 150)]);
        Ok(())
    }
}
