//! Polling: the network of a node, and everything that waits for it. `Lrts::progress -> **polling** -> inbox`

use super::inbox::take;
use super::zerocopy::{deregistration, remote_memory};
use crate::model::error::JobError;
use crate::node::Node;
use crate::pe::Pe;
use chare_lrts::{Channel, Completion, Lrts, LrtsError, NodeId, Sink};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

/// Looks at the network, unless a sleeping PE watches it, and after what waits for this node itself. Returns whether anything happened.
pub(crate) fn look(node: &Arc<Node>, polling: Option<&Pe>) -> bool {
    if node.topology.nodes() == 1 || node.watch().has_watcher() {
        // Whoever watches may have been told of room before it was known here that some is needed.
        return node.flush() | retry_and_reap(node);
    }
    let happened = progress(node, polling);
    if node.watch().has_watcher() {
        node.network.wake();
    }
    happened
}

/// The same for a PE that waits inside an entry: nothing goes into its own queue.
pub(crate) fn look_aside(node: &Arc<Node>) -> bool {
    look(node, None)
}

/// Polls the network and everything that waits for it. Returns whether anything happened.
/// What is for the PE that polls, if one does, goes into its own queue.
pub(crate) fn progress(node: &Arc<Node>, polling: Option<&Pe>) -> bool {
    let flushed = node.flush();
    let arrived = node.network.progress(&mut Inbox { node, polling });
    retry_and_reap(node) || flushed || arrived
}

/// Lets go on what waits for other threads of this node, or for neighbours, of whom nothing arrives: transfers into memory that others
/// claim, memory that a transfer still touches. Returns whether anything happened.
fn retry_and_reap(node: &Arc<Node>) -> bool {
    let retried = node.transfers.retry(&node.network);
    let reaped = node.deregistrations.are_waiting() && deregistration::reap(node);
    retried || reaped
}

/// What can wait until a PE has time: freeing memory of ended registrations, telling of paths that were given up, giving memory back to
/// the system. Returns how long until there may be more to do, if that is known.
pub(crate) fn tidy(node: &Node) -> Option<Duration> {
    deregistration::reap(node);
    remote_memory::sweep(node);
    for warning in node.network.take_warnings() {
        // Nobody may be reading.
        let _ = writeln!(std::io::stderr(), "warning: {}: {warning}", node.id);
    }
    node.network.give_back_memory()
}

struct Inbox<'a> {
    node: &'a Arc<Node>,
    polling: Option<&'a Pe>,
}

impl Sink for Inbox<'_> {
    fn frame(&mut self, source: NodeId, _channel: Channel, bytes: &[u8]) {
        take(self.node, self.polling, source, bytes);
    }

    fn completion(&mut self, completion: Completion) {
        self.node.transfers.complete(completion);
    }

    fn peer_closed(&mut self, _peer: NodeId) {
        // It heard of the job's end before we did; the same news is on its way to us.
    }

    fn peer_lost(&mut self, cause: LrtsError) {
        self.node.fail(JobError::Lrts { node: self.node.id, cause });
    }
}
