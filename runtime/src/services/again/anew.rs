//! Beginnings anew on the same PE: calls whose element has come before the end of its sync, and all that might move in tests.

use super::kept_call::KeptCall;
use super::record::Record;
use super::state::{Due, ID, InSync, state};
use crate::model::ids::{Target, TaskKey};
use crate::pe::Pe;
use crate::pe::running::Running;

/// Notes what is to begin soon.
pub(super) fn attend(pe: &Pe, due: Due) {
    state(pe).borrow_mut().due.push(due);
    pe.poll_soon(ID);
}

/// Lets the entry of a task that is at rest begin anew, if this job does so with all, to test them. Returns whether it will.
fn begins_anew(pe: &Pe, record: &Record) -> bool {
    let is_here = |key: &TaskKey| state(pe).borrow().tasks.contains_key(key);
    let key = record.key().filter(|key| pe.node.begins_anew && is_here(key));
    key.inspect(|key| attend(pe, Due::Task(*key)));
    key.is_some()
}

/// Ends the sync that a task waits for.
pub(super) fn end_sync(pe: &Pe, record: &Record, round: u64) {
    record.note_end_of_sync(round);
    if !begins_anew(pe, record) {
        record.end_sync(round);
    }
}

/// As [`begins_anew`], at a rest that is no sync: not twice at the same.
pub(crate) fn begins_anew_at(pe: &Pe, record: &Record) -> bool {
    if record.take_rests_anew() || !begins_anew(pe, record) {
        return false;
    }
    record.set_rests_anew();
    true
}

/// Begins what is due. Returns whether there was something.
pub(super) fn begin_due(pe: &Pe) -> bool {
    let due = std::mem::take(&mut state(pe).borrow_mut().due);
    pe.attend_to(ID, false);
    for due in &due {
        match due {
            Due::Task(key) => begin_anew(pe, *key),
            Due::Member(member) => {
                let waiting = state(pe).borrow_mut().in_sync.remove(member);
                match waiting {
                    Some(InSync::Due(call)) => make(pe, *member, call),
                    // It has left and come back meanwhile, and waits for the next sync.
                    Some(waiting) => drop(state(pe).borrow_mut().in_sync.insert(*member, waiting)),
                    None => {}
                }
            }
        }
    }
    !due.is_empty()
}

/// Calls the entry of a task anew, if that still is at rest.
fn begin_anew(pe: &Pe, key: TaskKey) {
    let record = state(pe).borrow().tasks.get(&key).filter(|record| record.is_at_rest()).cloned();
    let Some(record) = record else { return };
    let Some(chare) = pe.tasks.running(key).and_then(|running| running.chare) else { return };
    let Some(call) = record.take_call() else { return };
    drop(state(pe).borrow_mut().tasks.remove(&key));
    cancel(pe, key);
    state(pe).borrow().rests_anew.set(record.take_rests_anew());
    call.make(pe, chare);
    state(pe).borrow().rests_anew.set(false);
}

/// Drops a task whose entry is called again.
pub(super) fn cancel(pe: &Pe, key: TaskKey) {
    let Some(running) = pe.tasks.running(key) else { return };
    let (entry, what) = (running.entry, running.describe());
    drop(running);
    let dropping = Running::named(entry);
    let mut lost = 0;
    pe.run_as(dropping, || lost = pe.tasks.cancel(key));
    if lost > 0 {
        let cause = format!(
            "it is called again, and {lost} of the futures that it held had no value yet: await them before a sync, or keep what they are to \
             bring in the chare"
        );
        pe.fail(what, cause);
    }
}

/// Makes the call of an element that waited for a sync.
fn make(pe: &Pe, member: Target, call: KeptCall) {
    let chare = pe.places.borrow().look_up(member);
    call.make(pe, chare.expect("who goes takes its calls out of the table"));
}
