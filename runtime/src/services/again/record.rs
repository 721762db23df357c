//! Records of entries that may be called again, each shared by the entry's task, its `Again`, and the table of its PE.

use super::kept_call::KeptCall;
use crate::model::ids::TaskKey;
use crate::pe::{TellWait, Waits};
use std::cell::{Cell, RefCell};
use std::task::{Context, Poll, Waker};

/// An entry under way that may be called again.
pub(crate) struct Record {
    /// `None` once the call goes along, or is made again.
    call: RefCell<Option<KeptCall>>,
    key: Cell<Option<TaskKey>>,
    /// In how many of its rests the task waits: several, where it waits for several things at once.
    rests: Cell<u32>,
    /// Whether the last of them is a sync, and the only one.
    is_in_sync: Cell<bool>,
    /// Whether the task's first rest is none in tests: it has begun anew there.
    rests_anew: Cell<bool>,
    /// How many syncs are over, when the task's is and it has not heard of that.
    unheard: Cell<Option<u64>>,
    /// The same, for the task to hear: it goes on, and does not begin anew.
    round: Cell<Option<u64>>,
    in_sync: RefCell<Option<Waker>>,
    mover: RefCell<Option<Waker>>,
}

impl Record {
    pub(crate) fn new(call: KeptCall) -> Self {
        Self {
            call: RefCell::new(Some(call)),
            key: Cell::default(),
            rests: Cell::default(),
            is_in_sync: Cell::default(),
            rests_anew: Cell::default(),
            unheard: Cell::default(),
            round: Cell::default(),
            in_sync: RefCell::default(),
            mover: RefCell::default(),
        }
    }

    /// The record's task begins.
    pub(super) fn begin(&self, key: TaskKey, rests_anew: bool) {
        self.key.set(Some(key));
        self.rests_anew.set(rests_anew);
    }

    /// The record's task.
    pub(super) fn key(&self) -> Option<TaskKey> {
        self.key.get()
    }

    /// Takes the call, so that it goes along with its element or is made again.
    pub(super) fn take_call(&self) -> Option<KeptCall> {
        self.call.borrow_mut().take()
    }

    /// Whether the call is made again, and by somebody else than the task: its promises are not the task's any more.
    pub(crate) fn is_handed_on(&self) -> bool {
        self.call.borrow().is_none()
    }

    /// The task begins a rest.
    ///
    /// # Panics
    /// If it is at rest, and one of the two rests is a sync.
    pub(crate) fn rest(&self, in_sync: bool) {
        assert!(
            !self.is_at_rest() || !(in_sync || self.is_in_sync.get()),
            "an entry that waits in `sync` waits in no other wait of its `Again` meanwhile: it may begin anew, and could not tell whether the \
             sync is over; leave `at_rest` out beside it"
        );
        self.rests.update(|rests| rests + 1);
        self.is_in_sync.set(in_sync);
    }

    /// The task's rest is over.
    pub(crate) fn end_rest(&self) {
        self.rests.update(|rests| rests - 1);
    }

    pub(super) fn is_at_rest(&self) -> bool {
        self.rests.get() > 0
    }

    /// Whether the task has begun anew at its first rest; only that one is excused.
    pub(super) fn take_rests_anew(&self) -> bool {
        self.rests_anew.take()
    }

    /// Notes that the entry begins anew at a rest of its task.
    pub(super) fn set_rests_anew(&self) {
        self.rests_anew.set(true);
    }

    /// Notes that the sync is over that the task waits for.
    pub(super) fn note_end_of_sync(&self, round: u64) {
        self.unheard.set(Some(round));
    }

    /// The task hears no more of the end of its sync. Returns how many syncs are over, if that one is.
    pub(super) fn take_unheard(&self) -> Option<u64> {
        self.round.set(None);
        drop(self.in_sync.take());
        self.unheard.take()
    }

    /// Lets the task go on whose sync is over.
    pub(super) fn end_sync(&self, round: u64) {
        self.round.set(Some(round));
        let woken = self.in_sync.borrow_mut().take();
        woken.into_iter().for_each(Waker::wake);
    }

    /// Waits for the end of a sync.
    pub(crate) fn poll_sync(&self, context: &Context<'_>) -> Poll<u64> {
        match self.round.take() {
            Some(round) => {
                self.unheard.set(None);
                Poll::Ready(round)
            }
            None => {
                *self.in_sync.borrow_mut() = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Tells what the task waits for, if that is a sync or the element's move.
    pub(super) fn tell_wait(&self, tell: &mut TellWait<'_>) {
        let waits = [(&self.in_sync, "the end of a sync"), (&self.mover, "its element's move")];
        for (waker, what) in waits {
            let waker = waker.borrow().clone();
            waker.inspect(|waker| tell(Waits::Task(waker), what.to_owned()));
        }
    }

    /// Waits until somebody has looked whether the element moves.
    pub(crate) fn await_mover(&self, context: &Context<'_>) {
        *self.mover.borrow_mut() = Some(context.waker().clone());
    }

    pub(super) fn take_mover(&self) -> Option<Waker> {
        self.mover.borrow_mut().take()
    }
}
