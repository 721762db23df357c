//! Polling of a node's network, and of all work that waits for it.
//! `lrts -> **delivery/polling** -> delivery/inbox -> node/mailbox, pe/run_queue -> delivery/scheduler -> delivery/dispatch -> delivery/invocation -> the entry method`

use super::inbox::take;
use crate::model::error::JobError;
use crate::node::Node;
use crate::pe::Pe;
use crate::transfer::lend::deregistration;
use crate::transfer::take::remote_memory;
use chare_lrts::{Channel, Completion, Lrts, LrtsError, NodeId, Sink, events};
use std::sync::Arc;
use std::time::Duration;

/// Polls the network, unless a sleeping PE watches it, and retries the work that waits for this node itself. Returns whether anything
/// happened.
pub(crate) fn look(node: &Arc<Node>, polling: Option<&Pe>) -> bool {
    if node.topology.nodes() == 1 || node.watch().has_watcher() {
        // The watching PE may have been told of room before it was known here that a message needs some.
        let copied = node.network.go_on_copying(&mut Inbox { node, polling });
        return node.flush() | do_what_waits(node) | copied;
    }
    let happened = progress(node, polling);
    if node.watch().has_watcher() {
        node.network.wake();
    }
    happened
}

/// Like [`look`], for a PE that waits inside an entry: no message goes into its own queue. The PE has nothing better to do than to help.
pub(crate) fn look_aside(node: &Arc<Node>) -> bool {
    look(node, None) || help(node)
}

/// Copies a piece of a long copy that any PE of the node has begun. Returns whether there was one. For a PE that has nothing else to do.
#[inline]
pub(crate) fn help(node: &Arc<Node>) -> bool {
    let helped = node.network.help(&mut Inbox { node, polling: None });
    if helped {
        node.catch_up();
    }
    helped
}

/// Polls the network and all work that waits for it. Returns whether anything happened. Messages for the polling PE, if a PE polls, go
/// into its own queue.
pub(crate) fn progress(node: &Arc<Node>, polling: Option<&Pe>) -> bool {
    let flushed = node.flush();
    let arrived = node.network.progress(&mut Inbox { node, polling });
    do_what_waits(node) || flushed || arrived
}

/// Retries the work that waits for room in the network, and takes memory back that no transfer touches any more. Then does what arrivals have put off. Returns whether anything
/// happened.
fn do_what_waits(node: &Arc<Node>) -> bool {
    let retried = node.transfers.retry(&node.network);
    let reaped = node.may_reap() && deregistration::reap(node);
    let caught_up = node.catch_up();
    retried || reaped || caught_up
}

/// Does the work that can wait until a PE has time: frees memory of ended registrations, warns of paths that were given up, gives memory
/// back to the system, and tidies it once the PE has `rested` for a while. Returns the time until there may be more to do, if that is known.
pub(crate) fn tidy(node: &Node, rested: Duration) -> Option<Duration> {
    deregistration::reap(node);
    remote_memory::sweep(node);
    for warning in node.network.take_warnings() {
        events::warn(format_args!("warning: {}: {warning}", node.id));
    }
    node.network.tidy_memory(rested)
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
        // The peer learned of the job's end before this node did; the same news is on its way here.
    }

    fn peer_lost(&mut self, cause: LrtsError) {
        self.node.fail(JobError::Lrts { node: self.node.id, cause });
    }
}
