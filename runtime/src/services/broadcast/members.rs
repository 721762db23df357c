//! Members of a collection on one PE, called by a broadcast in the order in which they came; and members of this PE's that have moved.
//!
//! In a collection whose members may move, a PE calls those that have their home on it, wherever they live: so each is called once, and
//! those who are born beside the broadcast are called or not as if none had moved.

use super::message::Broadcast;
use crate::delivery::outbox;
use crate::delivery::shared_call::{LastCall, SharedCall, call_last_member, call_member};
use crate::model::call_options::CallOptions;
use crate::model::envelope::{Body, Call, Envelope};
use crate::model::ids::{AudienceId, Index, Target};
use crate::model::nocopy::Nocopy;
use crate::model::registry::AnyChare;
use crate::model::travel::Journey;
use crate::pe::Pe;
use crate::services::audience::Called;
use crate::transfer::many::dealt;
use smallvec::SmallVec;
use std::rc::Rc;

/// The number of members that are looked up at once.
const BATCH: usize = 32;

/// Calls the members of a collection that this PE knows, and returns their numbers.
pub(super) fn call_members(
    pe: &Pe,
    options: &CallOptions,
    audience: Option<AudienceId>,
    broadcast: Broadcast,
) -> Called {
    let (end, away) = {
        let mut places = pe.places.borrow_mut();
        let local = places.collection_mut(broadcast.collection);
        local.map_or((0, Vec::new()), |local| {
            let away = local.home.as_mut().map_or_else(Vec::new, |home| home.call_elsewhere());
            (local.members.end(), away)
        })
    };
    let copies = away.len() as u64;
    for member in away {
        call_away(pe, (options, audience), &broadcast, member);
    }
    let Broadcast { collection, entry, arguments, nocopy, reference } = broadcast;
    let shared = SharedCall { entry, arguments: &arguments, nocopy: &nocopy, reference };
    let (mut batch, mut last) = (SmallVec::<[Rc<dyn AnyChare>; BATCH]>::new(), None);
    let mut members = 0;
    // Members come by messages of their own, so none comes while this one is processed.
    for first in (0..end).step_by(BATCH) {
        if let Some(local) = pe.places.borrow().collection(collection) {
            let range = first..end.min(first + BATCH);
            batch
                .extend(local.members.within(range).filter(|member| local.is_at_home(member)).map(Rc::clone));
        }
        if first + BATCH >= end {
            last = batch.pop();
        }
        // A call of an earlier member may have destroyed this one.
        for member in batch.drain(..).filter(|member| !member.identity().is_gone()) {
            call_member(pe, options, member, &shared);
            members += 1;
        }
    }
    let last = last.filter(|member| !member.identity().is_gone());
    members += u64::from(last.is_some());
    // Often it is the only member: it gets the arguments as they came.
    if let Some(member) = last {
        call_last_member(pe, options, member, LastCall { entry, arguments, nocopy, reference });
    }
    Called { members, copies }
}

/// Calls a member that has its home here and is elsewhere, or under way.
fn call_away(
    pe: &Pe,
    (options, audience): (&CallOptions, Option<AudienceId>),
    broadcast: &Broadcast,
    (index, journey): (Index, Journey),
) {
    let Broadcast { collection, entry, ref arguments, ref nocopy, reference } = *broadcast;
    let target = Target::Member(collection, index);
    let nocopy = match dealt::for_member(pe, options, nocopy.clone(), target) {
        Ok(nocopy) => Some(nocopy).filter(|nocopy| !nocopy.is_empty()),
        Err(cause) => return pe.fail(format!("a call of {}::{}", entry.chare, entry.name), cause),
    };
    let nocopy = nocopy.map(|nocopy| Box::new(Nocopy::Leaving(nocopy)));
    let call = Call { target, from: pe.id, entry, arguments: arguments.clone(), nocopy, reference };
    let options = options.for_one().copy_for(journey);
    let options = audience.into_iter().fold(options, CallOptions::counted);
    let envelope = Envelope { options, body: Body::Call(call) };
    // A message of its own, which goes where the home says when its turn has come.
    outbox::send(pe, pe.id, envelope);
}
