//! Continuations: work that goes on when a stream is that far, such as the end of a loan, when no stream uses the buffer any more.

use crate::model::nocopy::Release;
use crate::node::Node;
use crate::transfer::take::gathering::Failure;
use chare_device::{Device, DeviceBuffer, DeviceError, Stream, Uses};
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

/// The buffer as its receiver gets it: with a release, a loan whose end drops the release, when all streams are past what they were given
/// with it. Until then it counts as a message on its way.
pub(super) fn lend(
    node: &Arc<Node>,
    buffer: DeviceBuffer<u8>,
    release: Option<Arc<Release>>,
) -> DeviceBuffer<u8> {
    let Some(release) = release else { return buffer };
    let device = buffer.device().clone();
    buffer.lent(past_uses(node, device, release))
}

/// The end of a loan: drops the release when all streams are past the uses that are left.
pub(super) fn past_uses(
    node: &Arc<Node>,
    device: Device,
    release: Arc<Release>,
) -> impl FnOnce(Uses) + Send + Sync + 'static {
    let node = Arc::downgrade(node);
    move |uses: Uses| {
        let Some(node) = node.upgrade().filter(|node| !node.has_ended()) else { return };
        let held = node.devices.held(&device).expect("what is lent is of a device of the node");
        if let Err(cause) = uses.before(&held.streams.ends) {
            return not_past(&node, &release, cause);
        }
        continue_later(&node, &held.streams.ends, move |node, passed| {
            if let Err(cause) = passed {
                not_past(node, &release, cause);
            }
            drop(release);
        });
    }
}

/// Ends the job, unless the transfer says itself that the device is lost, which uses no memory any more.
fn not_past(node: &Node, release: &Release, cause: DeviceError) {
    if release.whose().is_none() && cause.is_lost() {
        return;
    }
    let whose = release.whose().unwrap_or("whoever registered it");
    Failure::Device(cause).end(node, format!("handing a device buffer back to {whose}"));
}
