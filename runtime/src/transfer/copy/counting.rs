//! Counting of copies of nocopy arguments: by the PE whose thread makes one, or by its node.

use super::planned::Planned;
use crate::model::nocopy::PostedMemory;
use crate::node::Node;
use crate::pe::Pe;
use std::rc::Rc;

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
