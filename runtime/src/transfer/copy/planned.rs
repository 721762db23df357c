//! Plans from layout to layout, of which each thread remembers those that it made last; and the counts of copies, which the PE keeps whose thread
//! makes one, or its node.

use crate::base::recent::{MANY, Recent};
use crate::model::nocopy::{PostedMemory, divided};
use crate::node::Node;
use crate::pe::Pe;
use crate::transfer::ways;
use chare_layout::{LayoutError, Pieces, Plan, Raw};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::thread::LocalKey;

/// Most indices on both sides of a plan that is found by what its layouts are.
const COMPARED_INDICES: u64 = 64;

/// Most indices on both sides of a plan that is kept for the next time: a plan keeps the lists of its layouts, so that a thread keeps a
/// megabyte at most. Threads remember longer layouts of several buffers (`model/nocopy/several/span.rs`): by them a peer knows what it keeps, so
/// that the buffers are lent, not packed; a plan is no more than time, which is little beside the copy of so many pieces.
const PLANNED_INDICES: u64 = 4096;

/// Plans by the one layout that is not one piece of memory, found by its address.
type HalfPlans = RefCell<Recent<Arc<Raw>, Arc<Plan>, MANY>>;

/// Plans of pairs of layouts.
type Plans<const LEN: usize> = RefCell<Recent<[Arc<Raw>; 2], Arc<Planned>, LEN>>;

thread_local! {
    /// Plans that this thread made last.
    static PLANS: Plans<MANY> = const { RefCell::new(Recent::new()) };

    /// Those of long lists, which are found by their addresses, since two may differ in the last index only.
    static PLANS_OF_LISTS: Plans<16> = const { RefCell::new(Recent::new()) };

    /// Plans to one piece of memory from each of these layouts, and from one piece to each: those of short arguments, which are found without
    /// a handle of their own.
    static GATHERING: HalfPlans = const { RefCell::new(Recent::new()) };
    static SCATTERING: HalfPlans = const { RefCell::new(Recent::new()) };

    /// Layouts of one piece of memory, by its bytes, so that the pairs of `PLANS` are found by their addresses.
    static WHOLE: RefCell<Recent<u64, Arc<Raw>, MANY>> = const { RefCell::new(Recent::new()) };
}

/// The layout of so many bytes in one piece.
///
/// # Errors
/// More bytes than memory has.
pub(in crate::transfer) fn whole(bytes: u64) -> Result<Arc<Raw>, LayoutError> {
    WHOLE.with_borrow_mut(|layouts| {
        if let Some(known) = layouts.find(|known| *known == bytes) {
            return Ok(known);
        }
        let layout = Arc::new(Raw::bytes_of(bytes)?);
        layouts.keep(bytes, Arc::clone(&layout));
        Ok(layout)
    })
}

/// A plan, and what is known of it.
pub(in crate::transfer) struct Planned {
    pub(super) from: Arc<Raw>,
    pub(super) to: Arc<Raw>,
    pub(in crate::transfer) plan: Arc<Plan>,
    shared: OnceLock<Option<Arc<Pieces>>>,
}

impl Planned {
    fn new(from: &Arc<Raw>, to: &Arc<Raw>) -> Result<Self, LayoutError> {
        let plan = Arc::new(Plan::beginning(from, to)?);
        Ok(Self { from: Arc::clone(from), to: Arc::clone(to), plan, shared: OnceLock::new() })
    }

    /// The pieces in which two processes make the copy together, if that takes less time than one of them alone and both layouts are such
    /// as travel with each message; the same in every process.
    pub(super) fn shared(&self) -> Option<&Arc<Pieces>> {
        let Self { from, to, plan, .. } = self;
        let pieces = || ways::pays_to_share(from, to).then(|| divided::pieces(plan));
        let pieces = || pieces().filter(|pieces| pieces.len() > 1);
        self.shared.get_or_init(|| pieces().map(Arc::new)).as_ref()
    }
}

/// The plan from layout to layout, as far as the shorter of the two goes; where lists are not very long, the one that was made before.
pub(in crate::transfer) fn planned(from: &Arc<Raw>, to: &Arc<Raw>) -> Result<Arc<Planned>, LayoutError> {
    let are_they =
        |[known_from, known_to]: &[Arc<Raw>; 2]| Arc::ptr_eq(known_from, from) && Arc::ptr_eq(known_to, to);
    if let Some(known) = PLANS.with_borrow(|plans| plans.find(are_they)) {
        return Ok(known);
    }
    // What nobody else holds does not come again: long lists of several buffers are joined anew each time.
    let may_come_again = || Arc::strong_count(from) > 1 && Arc::strong_count(to) > 1;
    match from.index_count() + to.index_count() {
        ..=COMPARED_INDICES => planned_once(&PLANS, Arc::eq, (from, to)),
        ..=PLANNED_INDICES if may_come_again() => planned_once(&PLANS_OF_LISTS, Arc::ptr_eq, (from, to)),
        _ => Planned::new(from, to).map(Arc::new),
    }
}

/// The plan of a pair, kept among these for the next time that both are the same.
fn planned_once<const LEN: usize>(
    plans: &'static LocalKey<Plans<LEN>>,
    are_same: impl Fn(&Arc<Raw>, &Arc<Raw>) -> bool,
    (from, to): (&Arc<Raw>, &Arc<Raw>),
) -> Result<Arc<Planned>, LayoutError> {
    plans.with_borrow_mut(|plans| {
        let known = plans.find(|[known_from, known_to]| are_same(known_from, from) && are_same(known_to, to));
        if let Some(known) = known {
            return Ok(known);
        }
        let planned = Arc::new(Planned::new(from, to)?);
        plans.keep([Arc::clone(from), Arc::clone(to)], Arc::clone(&planned));
        Ok(planned)
    })
}

/// The plan from a layout to one piece of memory.
pub(in crate::transfer) fn planned_to_pack(layout: &Arc<Raw>) -> Result<Arc<Plan>, LayoutError> {
    Ok(Arc::clone(&planned(layout, &whole(layout.bytes())?)?.plan))
}

/// Runs `with`, which runs no code of the user, with the plan from a layout to one piece of memory.
pub(in crate::transfer) fn with_gathering<R>(
    layout: &Arc<Raw>,
    with: impl FnOnce(&Plan) -> R,
) -> Result<R, LayoutError> {
    with_half(&GATHERING, layout, planned, with)
}

/// The same, with the plan from one piece of memory to a layout.
pub(super) fn with_scattering<R>(layout: &Arc<Raw>, with: impl FnOnce(&Plan) -> R) -> Result<R, LayoutError> {
    with_half(&SCATTERING, layout, |layout, piece| planned(piece, layout), with)
}

fn with_half<R>(
    plans: &'static LocalKey<HalfPlans>,
    layout: &Arc<Raw>,
    plan: impl FnOnce(&Arc<Raw>, &Arc<Raw>) -> Result<Arc<Planned>, LayoutError>,
    with: impl FnOnce(&Plan) -> R,
) -> Result<R, LayoutError> {
    plans.with_borrow_mut(|plans| {
        if let Some(known) = plans.look_up(|known| Arc::ptr_eq(known, layout)) {
            return Ok(with(known));
        }
        let plan = Arc::clone(&plan(layout, &whole(layout.bytes())?)?.plan);
        let result = with(&plan);
        if layout.index_count() <= COMPARED_INDICES {
            plans.keep(Arc::clone(layout), plan);
        }
        Ok(result)
    })
}

/// Counts a copy to where a post method wanted it.
pub(in crate::transfer) fn count_landed(node: &Node, given: &PostedMemory) {
    count(node, given.bytes, given.is_scattered());
}

/// Counts a copy by a plan.
pub(super) fn count_step(node: &Node, Planned { from, to, plan, .. }: &Planned) {
    count(node, plan.bytes() as usize, !(from.is_contiguous() && to.is_contiguous()));
}

/// Counts a copy: among those of the node's PE whose thread this is, if it is one's, without a locked instruction.
fn count(node: &Node, bytes: usize, is_by_layouts: bool) {
    let steps = u64::from(is_by_layouts);
    let count_here = |pe: &Rc<Pe>| {
        let is_here = std::ptr::eq(&*pe.node, node);
        if is_here {
            pe.counters.count_copy_here(bytes);
            pe.counters.stepped.add(steps);
        }
        is_here
    };
    if Pe::try_current(count_here) != Some(true) {
        node.outside.count_copy(bytes);
        node.outside.stepped.add_shared(steps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_planned_once_for_a_pair_and_very_long_lists_each_time() {
        let double = Raw::bytes_of(8).expect("bytes");
        let every = |stride| Arc::new(double.vector(10, 1, stride).expect("it fits"));
        let list = |len: i64| {
            let squares: Vec<i64> = (0..len).map(|place| place * place).collect();
            Arc::new(double.indexed_block(1, &squares).expect("it fits"))
        };
        let planned = |from: &Arc<Raw>, to: &Arc<Raw>| planned(from, to).expect("a plan");
        let there = planned(&every(2), &every(3));
        let back = planned(&every(3), &every(2));
        assert!(Arc::ptr_eq(&there, &planned(&every(2), &every(3))), "equal layouts are the same pair");
        assert!(!Arc::ptr_eq(&there, &back));
        let (long, longest) = (list(100), list(2049));
        let _holders = (Arc::clone(&long), Arc::clone(&longest));
        assert!(Arc::ptr_eq(&planned(&long, &long), &planned(&long, &long)));
        assert!(
            !Arc::ptr_eq(&planned(&long, &long), &planned(&list(100), &list(100))),
            "long ones are not compared"
        );
        assert!(!Arc::ptr_eq(&planned(&longest, &longest), &planned(&longest, &longest)));
    }
}
