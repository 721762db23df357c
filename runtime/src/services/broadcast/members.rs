//! Members of a collection on one PE, called by a broadcast in the order in which they came.

use super::message::Broadcast;
use crate::delivery::shared_call::{LastCall, SharedCall, call_last_member, call_member};
use crate::model::call_options::CallOptions;
use crate::model::registry::AnyChare;
use crate::pe::Pe;
use smallvec::SmallVec;
use std::rc::Rc;

/// The number of members that are looked up at once.
const BATCH: usize = 32;

/// Calls the members of a collection that this PE knows, and returns their number.
pub(super) fn call_members(pe: &Pe, options: &CallOptions, broadcast: Broadcast) -> u64 {
    let Broadcast { collection, entry, arguments, nocopy, reference } = broadcast;
    let end = pe.places.borrow().collection(collection).map_or(0, |local| local.members.end());
    let shared = SharedCall { entry, arguments: &arguments, nocopy: &nocopy, reference };
    let (mut batch, mut last) = (SmallVec::<[Rc<dyn AnyChare>; BATCH]>::new(), None);
    let mut called = 0;
    // Members come by messages of their own, so none comes while this one is processed.
    for first in (0..end).step_by(BATCH) {
        if let Some(local) = pe.places.borrow().collection(collection) {
            batch.extend(local.members.within(first..end.min(first + BATCH)).map(Rc::clone));
        }
        if first + BATCH >= end {
            last = batch.pop();
        }
        // A call of an earlier member may have destroyed this one.
        for member in batch.drain(..).filter(|member| !member.identity().is_gone()) {
            call_member(pe, options, member, &shared);
            called += 1;
        }
    }
    let last = last.filter(|member| !member.identity().is_gone());
    called += u64::from(last.is_some());
    // Often it is the only member: it gets the arguments as they came.
    if let Some(member) = last {
        call_last_member(pe, options, member, LastCall { entry, arguments, nocopy, reference });
    }
    called
}
