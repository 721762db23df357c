//! Goodbye of a node whose job has ended: its last messages go out, and it takes leave of its peers.
//!
//! 1. It [leaves](Goodbye::leave): nothing more is begun on it.
//! 2. Whoever lets it make progress asks whether it [is gone](Goodbye::is_gone): it says goodbye once its last messages are out, and is gone
//!    when all peers have said it, too. Others may still run meanwhile, and take what it refused.
//! 3. It is [cleared](Goodbye::clear), gone or not: a peer that does not answer is left behind.

use crate::delivery::polling;
use crate::model::error::JobError;
use crate::node::Node;
use chare_lrts::Lrts;
use std::sync::Arc;
use std::time::Duration;

/// A node that takes leave.
pub(super) struct Goodbye<'a> {
    node: &'a Arc<Node>,
    is_said: bool,
}

impl<'a> Goodbye<'a> {
    pub(super) fn leave(node: &'a Arc<Node>) -> Self {
        node.timeline.finish();
        node.withdraw();
        Self { node, is_said: false }
    }

    /// Whether the node has said goodbye: until then it has something to send.
    pub(super) fn is_said(&self) -> bool {
        self.is_said
    }

    /// Whether nothing more passes between the node and its peers.
    pub(super) fn is_gone(&mut self) -> bool {
        if !self.is_said && !self.node.is_unsettled() {
            self.say();
        }
        self.is_said && self.node.network.is_closed()
    }

    fn say(&mut self) {
        let _ = polling::tidy(self.node, Duration::ZERO);
        self.node.network.shutdown();
        self.is_said = true;
    }

    /// Ends the trace of the node, and drops what it still has.
    pub(super) fn clear(mut self) {
        if !self.is_said {
            self.say();
        }
        if let Some(Err(cause)) = self.node.network.trace_file().map(|trace| trace.finish()) {
            self.node.fail_after_end(JobError::Lrts { node: self.node.id, cause });
        }
        self.node.clear();
    }
}
