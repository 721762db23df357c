//! State of one PE about calls that may be made again: the records of tasks, who waits for syncs, and what is to begin.

use super::kept_call::KeptCall;
use super::record::Record;
use crate::model::ids::{ServiceId, Target, TaskKey};
use crate::pe::Pe;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

pub(super) const ID: ServiceId = ServiceId(16);

/// The part of an element that waits for a sync.
pub(super) enum InSync {
    /// A task.
    Task(Rc<Record>),
    /// A call that has come along, and is to be made when the sync is over.
    Call(KeptCall),
    /// A call that is to be made: the sync is over.
    Due(KeptCall),
}

/// What is to begin when the PE looks at its services next: services hear of it inside of what may not run entries.
#[derive(Clone, Copy)]
pub(super) enum Due {
    /// The entry of a task that is at rest, anew.
    Task(TaskKey),
    /// The call of an element whose sync is over.
    Member(Target),
}

#[derive(Default)]
pub(super) struct State {
    pub(super) tasks: FxHashMap<TaskKey, Rc<Record>>,
    /// Elements of which a task or a call waits for a sync.
    pub(super) in_sync: FxHashMap<Target, InSync>,
    pub(super) due: Vec<Due>,
    /// Whether the task that begins next has begun anew at a rest, and is not to do so at its first one.
    pub(super) rests_anew: Cell<bool>,
}

pub(super) fn state(pe: &Pe) -> &RefCell<State> {
    pe.state(ID)
}
