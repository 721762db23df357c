//! The end of a job on one node: how it came, who says why, who waits for it.

use crate::model::error::JobError;
use parking_lot::{Condvar, Mutex};
use std::sync::atomic::AtomicBool;

/// How a job ended, on this node.
#[derive(Debug)]
pub(crate) enum Ending {
    Code(i32),
    Error(JobError),
}

/// Says why this node failed.
pub(super) type Herald = Box<dyn FnOnce(&JobError) + Send>;

/// See the file's head.
#[derive(Default)]
pub(super) struct End {
    /// Until it is needed.
    pub(super) herald: Mutex<Option<Herald>>,
    pub(super) has_come: AtomicBool,
    pub(super) ending: Mutex<Option<Ending>>,
    pub(super) came: Condvar,
}
