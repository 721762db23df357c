//! Plans from layout to layout, of which each thread remembers those that it made last.

use crate::base::recent::Recent;
use chare_layout::{LayoutError, Plan, Raw};
use std::cell::RefCell;
use std::sync::Arc;

/// Most indices on both sides of a plan that is kept for the next time: a plan keeps the lists of its layouts.
const PLANNED_INDICES: u64 = 64;

thread_local! {
    /// Plans that this thread made last.
    static PLANS: RefCell<Recent<[Arc<Raw>; 2], Arc<Plan>>> = const { RefCell::new(Recent::new()) };

    /// Layouts of one piece of memory, by its bytes, so that the pairs of `PLANS` are found by their addresses.
    static WHOLE: RefCell<Recent<u64, Arc<Raw>>> = const { RefCell::new(Recent::new()) };
}

/// The layout of so many bytes in one piece.
///
/// # Errors
/// More bytes than memory has.
pub(super) fn whole(bytes: u64) -> Result<Arc<Raw>, LayoutError> {
    WHOLE.with_borrow_mut(|layouts| {
        if let Some(known) = layouts.find(|known| *known == bytes) {
            return Ok(known);
        }
        let layout = Arc::new(Raw::bytes_of(bytes)?);
        layouts.keep(bytes, Arc::clone(&layout));
        Ok(layout)
    })
}

/// The plan from layout to layout, as far as the shorter of the two goes; where lists are short or none, the one that was made before.
pub(super) fn planned(from: &Arc<Raw>, to: &Arc<Raw>) -> Result<Arc<Plan>, LayoutError> {
    if from.index_count() + to.index_count() > PLANNED_INDICES {
        return Plan::beginning(from, to).map(Arc::new);
    }
    PLANS.with_borrow_mut(|plans| {
        if let Some(known) = plans.find(|[known_from, known_to]| known_from == from && known_to == to) {
            return Ok(known);
        }
        let plan = Arc::new(Plan::beginning(from, to)?);
        plans.keep([Arc::clone(from), Arc::clone(to)], Arc::clone(&plan));
        Ok(plan)
    })
}

/// The plan from a layout to one piece of memory.
pub(super) fn planned_to_pack(layout: &Arc<Raw>) -> Result<Arc<Plan>, LayoutError> {
    planned(layout, &whole(layout.bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_layouts_are_planned_once_for_a_pair_and_long_lists_each_time() {
        let double = Raw::bytes_of(8).expect("bytes");
        let every = |stride| Arc::new(double.vector(10, 1, stride).expect("it fits"));
        let squares: Vec<i64> = (0..100).map(|place| place * place).collect();
        let list = Arc::new(double.indexed_block(1, &squares).expect("it fits"));
        let planned = |from: &Arc<Raw>, to: &Arc<Raw>| planned(from, to).expect("a plan");
        let there = planned(&every(2), &every(3));
        let back = planned(&every(3), &every(2));
        assert!(Arc::ptr_eq(&there, &planned(&every(2), &every(3))), "equal layouts are the same pair");
        assert!(!Arc::ptr_eq(&there, &back));
        assert!(!Arc::ptr_eq(&planned(&list, &list), &planned(&list, &list)));
    }
}
