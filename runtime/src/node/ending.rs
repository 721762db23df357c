//! Operations that end a job: the first cause counts, goes to all nodes, and wakes every waiting thread.

use super::Node;
use super::end::{Ending, Outcome};
use crate::model::envelope::frame::{self, Header};
use crate::model::error::JobError;
use std::sync::atomic::Ordering;
use std::time::Duration;

impl Node {
    /// Ends the job, on all nodes, with an exit code.
    pub(crate) fn exit(&self, code: i32) {
        self.spread_exit(code, None);
        self.end(Ending::Code(code));
    }

    /// Sets the closure that reports why this node fails, if it does: once, and before another node learns of it. Nodes that have learned
    /// of a failure end, and a launcher that sees one node end may stop this one before it could report.
    pub(crate) fn set_herald(&self, herald: impl FnOnce(&JobError) + Send + 'static) {
        *self.end.herald.lock() = Some(Box::new(herald));
    }

    /// Ends the job, on all nodes, with an error. The first error counts.
    pub(crate) fn fail(&self, error: JobError) {
        if self.has_ended() {
            return;
        }
        let herald = self.end.herald.lock().take();
        if let Some(herald) = herald {
            herald(&error);
        }
        self.spread_exit(1, Some(error.to_string()));
        self.end(Ending::Error(error));
    }

    /// Turns the end of the job, which has come, into a failure, on this node: the other nodes have their own. The first error counts.
    pub(crate) fn fail_after_end(&self, error: JobError) {
        if self.has_failed() {
            return;
        }
        let herald = self.end.herald.lock().take();
        if let Some(herald) = herald {
            herald(&error);
        }
        *self.end.ending.lock() = Some(Ending::Error(error));
    }

    /// Whether the job has ended with an error, as far as this node knows.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(*self.end.ending.lock(), Some(Ending::Error(_)))
    }

    fn spread_exit(&self, code: i32, error: Option<String>) {
        let header = Header::Exit { root: self.id, code, error };
        if let Ok(bytes) = frame::encode(&header, None) {
            self.post_to_children(&self.outside, self.id, &bytes, None);
        }
    }

    /// Ends the job on this node.
    pub(crate) fn end(&self, ending: Ending) {
        self.end.ending.lock().get_or_insert(ending);
        self.end.has_come.store(true, Ordering::Release);
        self.end.came.notify_all();
        self.wake_all();
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.end.has_come.load(Ordering::Acquire)
    }

    /// Blocks until the job has ended on this node, or for so long; returns whether it has ended.
    pub(crate) fn wait_for_end_within(&self, limit: Duration) -> bool {
        let mut ending = self.end.ending.lock();
        if ending.is_none() {
            self.end.came.wait_for(&mut ending, limit);
        }
        ending.is_some()
    }

    /// Blocks until the job has ended on this node.
    pub(crate) fn wait_for_end(&self) {
        let mut ending = self.end.ending.lock();
        while ending.is_none() {
            self.end.came.wait(&mut ending);
        }
    }

    /// The place of the job's result.
    pub(crate) fn outcome(&self) -> &Outcome {
        &self.end.outcome
    }

    pub(crate) fn take_ending(&self) -> Option<Ending> {
        self.end.ending.lock().take()
    }
}
