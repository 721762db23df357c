//! Ends of loans: a sender is told that its buffer is free when no stream uses it any more.

use super::continuing::continue_later;
use crate::model::nocopy::Release;
use crate::node::Node;
use crate::transfer::take::gathering::Failure;
use chare_device::{Device, DeviceBuffer, DeviceError, Uses};
use std::sync::Arc;

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
