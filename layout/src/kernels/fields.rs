//! Fields: blocks that stand together at each step of a loop, copied one field after the other, by strips of steps that stay in
//! the first cache.

#![expect(unsafe_code, reason = "copies between memory that others may touch")]

use super::blocks;
use crate::plan::nest::{Nest, Pair};
use crate::plan::step::Step;

/// Bytes of either side that a strip goes over: a quarter of the first cache or less.
const STRIP_BYTES: u64 = 8192;

/// The blocks at each step of a loop, if all that is there are blocks.
pub(crate) fn lone_blocks(steps: &[Step]) -> Option<impl Iterator<Item = &Nest> + Clone> {
    steps.iter().all(|step| lone(step).is_some()).then(|| steps.iter().filter_map(lone))
}

fn lone(step: &Step) -> Option<&Nest> {
    match step {
        Step::Nest(nest) if nest.loops.is_empty() => Some(nest),
        _ => None,
    }
}

/// Copies each field at each step of `pair`.
///
/// # Safety
/// All fields of the source may be read and all of the target written; they share no byte.
pub(crate) unsafe fn by_strips<'a>(
    source: *const u8,
    target: *mut u8,
    pair: Pair,
    fields: impl Iterator<Item = &'a Nest> + Clone,
) {
    let stride = pair.source.unsigned_abs().max(pair.target.unsigned_abs()).max(1);
    let most = (STRIP_BYTES / stride).max(1);
    let mut step = 0;
    while step < pair.count {
        let count = most.min(pair.count - step);
        let at = |stride: i64, place: i64| (step as isize).wrapping_mul(stride as isize) + place as isize;
        for field in fields.clone() {
            let source = source.wrapping_offset(at(pair.source, field.source));
            let target = target.wrapping_offset(at(pair.target, field.target));
            // SAFETY: these are steps of the loop, of which the caller promises all; a target has no byte twice, so that the
            // order among fields says nothing.
            unsafe { blocks::strided(source, target, Pair { count, ..pair }, field.block) };
        }
        step += count;
    }
}
