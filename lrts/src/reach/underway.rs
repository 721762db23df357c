//! Transfers under way on a network that also has one-sided access: one that it refuses after all goes on by messages.
//!
//! Whether a peer can make its memory reachable is known only when it has been asked: it may not be allowed to pin that much.
//!
//! 1. Every transfer on the network has a name here until its end, which is told under the name that its poster gave it.
//! 2. What is refused under way is posted again as messages, or postponed while there is no room for it.

use super::transfer::{Stub, Tried, post_on, post_runs_on};
use crate::lrts::{Completion, Lrts, Posted, Token};
use crate::operation::Operation;
use crate::runs::Runs;
use parking_lot::Mutex;
use slab::Slab;

/// A transfer that the network has.
struct Open {
    /// Its poster's name for it.
    token: Token,
    /// Of one-sided access.
    stub: Option<Stub>,
}

/// The transfers that the network has, and those that wait to be posted as messages.
#[derive(Default)]
pub(super) struct UnderWay {
    open: Mutex<Slab<Open>>,
    /// Refused, and without room as messages so far.
    pub(super) postponed: Mutex<Vec<Operation>>,
}

impl UnderWay {
    /// Posts a transfer for which another path could be taken.
    ///
    /// # Errors
    /// The transfer, when there is no room for it now.
    pub(super) fn attempt(
        &self,
        direct: &dyn Lrts,
        operation: Operation,
    ) -> Result<Tried<Posted>, Operation> {
        let stub = Stub::of(&operation);
        self.post(operation, Some(stub), |operation| post_on(direct, operation))
    }

    /// Posts a transfer for which no other path will be taken: as messages, or with memory of a device.
    ///
    /// # Errors
    /// As [`UnderWay::attempt`].
    pub(super) fn carry(&self, carrier: &dyn Lrts, operation: Operation) -> Result<Posted, Operation> {
        self.post_once(operation, |operation| post_on(carrier, operation))
    }

    /// Posts runs, for which no other path will be taken.
    ///
    /// # Errors
    /// As [`UnderWay::attempt`].
    pub(super) fn carry_runs(
        &self,
        direct: &dyn Lrts,
        operation: Operation,
        runs: &Runs,
    ) -> Result<Posted, Operation> {
        self.post_once(operation, |operation| post_runs_on(direct, operation, runs))
    }

    fn post_once(
        &self,
        operation: Operation,
        post: impl FnOnce(Operation) -> Result<Posted, Operation>,
    ) -> Result<Posted, Operation> {
        self.post(operation, None, post).map(|tried| match tried {
            Tried::Works(posted) => posted,
            Tried::Fails(..) => unreachable!("only what has a stub can be posted again"),
        })
    }

    fn post(
        &self,
        operation: Operation,
        stub: Option<Stub>,
        post: impl FnOnce(Operation) -> Result<Posted, Operation>,
    ) -> Result<Tried<Posted>, Operation> {
        let token = operation.token;
        let name = self.open.lock().insert(Open { token, stub }) as Token;
        match post(Operation { token: name, ..operation }) {
            Ok(Posted::Pending) => Ok(Tried::Works(Posted::Pending)),
            Ok(Posted::Done(completion)) => Ok(self.end(completion).map(Posted::Done)),
            Err(operation) => {
                self.open.lock().remove(name as usize);
                Err(Operation { token, ..operation })
            }
        }
    }

    /// A transfer's end, under its poster's name.
    pub(super) fn end(&self, completion: Completion) -> Tried<Completion> {
        let Open { token, stub } = self.open.lock().remove(completion.token as usize);
        let completion = Completion { token, ..completion };
        match stub {
            Some(stub) => stub.judge(completion),
            None => Tried::Works(completion),
        }
    }

    /// Whether nothing is postponed, of which no descriptor tells when there is room.
    pub(super) fn may_sleep(&self) -> bool {
        self.postponed.lock().is_empty()
    }
}
