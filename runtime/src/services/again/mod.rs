//! Calls that may be made again: `async` entries that take an `Again`, each with what it takes to call it once more from the top.
//!
//! ```text
//! the entry begins -> its task runs -> at rest -> goes on, and ends
//!                                        |
//!                                        +-> the task is dropped, the call goes along -> called again where the element arrives
//! ```
//!
//! 1. A record stands beside the task from its beginning to its end: the entry, a copy of its arguments, the reference number, the
//!    broadcast that called it, and the deadline. The address of an answer is one of the arguments: a task that is dropped so that its
//!    entry is called again breaks no promise.
//! 2. A task is *at rest* while it waits in a wait of its `Again`. An element may leave when all of its tasks are at rest and each handle of
//!    the element is that of a task: so no task is dropped for a move that cannot be.
//! 3. The calls go along in the element's parcel, and are made where it arrives, after `#[moved]` and ahead of the calls that were kept for
//!    the element. One that waits for a sync is made when that sync is over, so that it does not run ahead of the other elements. A task
//!    that waits for a sync is at no other rest meanwhile: an entry that begins anew could not tell which of them is over.
//! 4. A future without a value that is dropped with such a task is an answer that nobody would ever hear: it ends the job.
//! 5. With `+again` entries begin anew here, wherever they might have moved: at every sync, and at every other rest but the first one behind
//!    such a beginning.

mod anew;
mod kept_call;
mod record;
mod state;
mod travelling;

use crate::base::typed_box::TypedBox;
use crate::model::ids::{Target, TaskKey};
use crate::model::registry::AnyChare;
use crate::pe::{ChareEvent, Pe, Service};
use std::cell::RefCell;
use std::rc::Rc;
use std::task::Waker;

pub(crate) use anew::begins_anew_at;
pub(crate) use kept_call::KeptCall;
pub(crate) use record::Record;
use state::{Due, ID, InSync, State, state};
pub(crate) use travelling::{begin, pack, unpack};

pub(crate) const SERVICE: Service = Service {
    state: || TypedBox::new(RefCell::new(State::default())),
    poll: anew::begin_due,
    before_rest: anew::begin_due,
    event: Some(|pe, event| {
        if let ChareEvent::Gone { chare, .. } = event {
            let waiting = state(pe).borrow_mut().in_sync.remove(&chare.target);
            if let Some(InSync::Call(call) | InSync::Due(call)) = waiting {
                call.forsake(pe, chare);
            }
        }
    }),
    waits: |pe, tell| state(pe).borrow().tasks.values().for_each(|record| record.tell_wait(tell)),
    clear: |pe| drop(state(pe).take()),
    ..Service::named(ID, "calls that may be made again")
};

/// Enters the record of a task that begins.
pub(crate) fn enter(pe: &Pe, key: TaskKey, record: Rc<Record>) {
    record.begin(key, state(pe).borrow_mut().rests_anew.take());
    state(pe).borrow_mut().tasks.insert(key, record);
}

/// Takes out the record of a task that is over.
pub(crate) fn leave(pe: &Pe, record: &Record) {
    let over = record.key().and_then(|key| state(pe).borrow_mut().tasks.remove(&key));
    // Dropped after the borrow: the arguments are the user's.
    drop(over);
}

/// Whether an element may leave its PE: it does not hold itself there, and is free, or will be when its tasks, all of which are at rest, are
/// dropped.
pub(crate) fn may_leave(pe: &Pe, chare: &Rc<dyn AnyChare>) -> bool {
    if pe.wishes.is_held(chare.identity().target) {
        return false;
    }
    if chare.is_free_to_move() {
        return true;
    }
    let tasks = pe.tasks.of(chare.identity());
    let state = state(pe).borrow();
    let rests = |key| state.tasks.get(key).is_some_and(|record| record.is_at_rest());
    chare.is_free() && chare.identity().handles() as usize == tasks.len() && tasks.iter().all(rests)
}

/// Lets a task wait for the sync to which its element comes next.
///
/// # Panics
/// If the element waits for a sync already.
pub(crate) fn await_sync(pe: &Pe, member: Target, record: &Rc<Record>) {
    let before = state(pe).borrow_mut().in_sync.insert(member, InSync::Task(Rc::clone(record)));
    assert!(
        before.is_none(),
        "an element waits for one sync at a time: it asks for the next one when it goes on"
    );
}

/// Whether a task of an element waits for a sync, or a call that is to be made when that is over.
pub(crate) fn awaits_sync(pe: &Pe, member: Target) -> bool {
    state(pe).borrow().in_sync.contains_key(&member)
}

/// Lets a task wait for its element's sync no more, if it does. Returns how many syncs are over, if the one that it gives up is, and it has
/// not heard of that.
pub(crate) fn forget_sync(pe: &Pe, member: Target, record: &Rc<Record>) -> Option<u64> {
    let mut state = state(pe).borrow_mut();
    if let Some(InSync::Task(waiting)) = state.in_sync.get(&member)
        && Rc::ptr_eq(waiting, record)
    {
        state.in_sync.remove(&member);
    }
    record.take_unheard()
}

/// Lets an element go on that waits for a sync: its task, or the call that is to be made when the sync is over. `round`: how many are over.
pub(crate) fn go_on(pe: &Pe, member: Target, round: u64) {
    let waiting = state(pe).borrow_mut().in_sync.remove(&member);
    match waiting {
        Some(InSync::Task(record)) => anew::end_sync(pe, &record, round),
        Some(InSync::Call(call) | InSync::Due(call)) => {
            state(pe).borrow_mut().in_sync.insert(member, InSync::Due(call));
            anew::attend(pe, Due::Member(member));
        }
        None => {}
    }
}

/// Wakes the tasks of an element that wait for its move: it stays for now.
pub(crate) fn stays(pe: &Pe, chare: &Rc<dyn AnyChare>) {
    let woken: Vec<Waker> = {
        let state = state(pe).borrow();
        let records = pe.tasks.of(chare.identity()).into_iter().filter_map(|key| state.tasks.get(&key));
        records.filter_map(|record| record.take_mover()).collect()
    };
    woken.into_iter().for_each(Waker::wake);
}
