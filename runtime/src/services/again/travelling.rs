//! Calls on their way: what an element takes along whose tasks are at rest, and what is called again where the element arrives.

use super::anew;
use super::kept_call::KeptCall;
use super::state::{ID, InSync, state};
use crate::model::ids::Target;
use crate::model::parcel::Parcel;
use crate::model::registry::AnyChare;
use crate::pe::Pe;
use std::rc::Rc;

/// The calls that go along with an element: each, and whether it waits for a sync.
type Luggage = Vec<(KeptCall, bool)>;

/// Drops the tasks of an element that leaves, which are all at rest, and packs their calls.
pub(crate) fn pack(pe: &Pe, chare: &Rc<dyn AnyChare>, parcel: &mut Parcel) {
    let target = chare.identity().target;
    let waiting = state(pe).borrow_mut().in_sync.remove(&target);
    let mut luggage = Luggage::new();
    for key in pe.tasks.of(chare.identity()) {
        let record = state(pe).borrow_mut().tasks.remove(&key).expect("all of its tasks are at rest");
        let waits = matches!(&waiting, Some(InSync::Task(waiting)) if Rc::ptr_eq(waiting, &record));
        luggage.extend(record.take_call().map(|call| (call, waits)));
        anew::cancel(pe, key);
    }
    match waiting {
        Some(InSync::Call(call)) => luggage.push((call, true)),
        Some(InSync::Due(call)) => luggage.push((call, false)),
        Some(InSync::Task(_)) | None => {}
    }
    if !luggage.is_empty() {
        parcel.put(ID, luggage);
    }
}

/// Unpacks the calls that have come along with an element, before others hear of its arrival. Returns those that are made at once.
///
/// # Errors
/// When the parcel is another node's, and holds no such thing; in words.
pub(crate) fn unpack(pe: &Pe, member: Target, parcel: &mut Parcel) -> Result<Vec<KeptCall>, String> {
    let luggage = parcel.take::<Luggage>(ID)?.unwrap_or_default();
    let mut at_once = Vec::new();
    for (call, waits) in luggage {
        if !waits {
            at_once.push(call);
        } else if state(pe).borrow_mut().in_sync.insert(member, InSync::Call(call)).is_some() {
            return Err("two of its calls wait for a sync".to_owned());
        }
    }
    Ok(at_once)
}

/// Makes the calls of an element that has come.
pub(crate) fn begin(pe: &Pe, chare: &Rc<dyn AnyChare>, calls: Vec<KeptCall>) {
    for call in calls {
        if chare.identity().is_gone() {
            call.forsake(pe, chare.identity());
        } else {
            call.make(pe, Rc::clone(chare));
        }
    }
}
