//! Continuations: work that goes on when a stream is that far.

use crate::node::Node;
use chare_device::{DeviceError, Stream};
use parking_lot::Mutex;
use std::sync::Arc;

/// Has a PE of this node go on when a stream has done all that it was given so far, or its device is lost: with what the device says. If it
/// does not take the order, the work goes on at once, with the error. Nobody waits; until then it counts as a message on its way.
pub(crate) fn continue_later(
    node: &Arc<Node>,
    stream: &Stream,
    work: impl FnOnce(&Arc<Node>, Result<(), DeviceError>) + Send + 'static,
) {
    // In a mutex, because an order that is refused takes its closure along; the work is done once.
    let work = Arc::new(Mutex::new(Some(work)));
    let take = |work: &Mutex<Option<_>>| work.lock().take().expect("an order is carried out or refused");
    // Weak, because a stream may outlive the job, and its thread must not be the one that drops the node's devices.
    let (later, weak) = (Arc::clone(&work), Arc::downgrade(node));
    node.outside.sent.add_shared(1);
    // The stream's thread must not ask the device; the event says later whether it was lost.
    let asked = stream.record().and_then(|event| {
        stream.call(move || {
            let Some(node) = weak.upgrade() else { return };
            node.later(Box::new(move |node| {
                take(&later)(node, event.is_complete().map(|_| ()));
                node.outside.processed.add_shared(1);
            }));
        })
    });
    if let Err(cause) = asked {
        take(&work)(node, Err(cause));
        node.outside.processed.add_shared(1);
    }
}
