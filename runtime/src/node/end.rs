//! End of a job on one node: its cause, the report of a failure, and the signal to the threads that wait for the end.

use crate::model::error::JobError;
use parking_lot::{Condvar, Mutex};
use std::sync::atomic::AtomicBool;
use tokio::sync::watch;

/// The cause by which a job ended, on this node.
#[derive(Debug)]
pub(crate) enum Ending {
    Code(i32),
    Error(JobError),
}

/// The job's result, for all who wait for it: `None` until the job is over, on this node or, where one process has them all, on all.
pub(crate) type Outcome = watch::Sender<Option<Result<i32, JobError>>>;

/// Closure that reports why this node failed.
pub(super) type Herald = Box<dyn FnOnce(&JobError) + Send>;

/// The state of the job's end on one node.
#[derive(Default)]
pub(super) struct End {
    /// The report of a failure, until it is needed: it runs once.
    pub(super) herald: Mutex<Option<Herald>>,
    pub(super) has_come: AtomicBool,
    pub(super) ending: Mutex<Option<Ending>>,
    pub(super) came: Condvar,
    /// Told by whoever started the node, when nothing is left to do.
    pub(super) outcome: Outcome,
}
