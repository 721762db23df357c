//! Launches of steps: all that the messages of a PE's turn want copied on a device go to a stream together.
//!
//! 1. A step waits with its PE until that has nothing else to run, or for [`LOOKS_MAX`] looks, or until [`STEPS_MAX`] are there. So a halo of
//!    many faces is one launch, and no step waits for a PE that is never idle.
//! 2. A step that waits counts as a message on its way.
//! 3. Without a PE, a step is launched at once.

use super::continuing::continue_later;
use crate::node::Node;
use crate::node::devices::lanes::Lane;
use crate::pe::Pe;
use crate::pe::device_steps::{Collected, Then, When};
use chare_device::{Batch, Device, DeviceError, Stream};
use std::rc::Rc;
use std::sync::Arc;

/// Steps that are launched without waiting for more: a launch takes some microseconds, of which one in so many is too little to save.
const STEPS_MAX: usize = 64;

/// Looks at the network, of a PE that is never idle, after which steps are launched: as many messages as four looks apart are more than a
/// chare has neighbours in space, diagonal ones, too.
const LOOKS_MAX: u32 = 4;

/// Has a step launched, which `add` adds to a batch; `then` goes on with what the step has been given to write.
pub(super) fn launch_soon(
    node: &Arc<Node>,
    (device, lane): (&Device, Lane),
    add: impl FnOnce(&mut Batch) -> Result<(), DeviceError>,
    (when, then): (When, Then),
) {
    let mut step = Some((add, then));
    let mut take = |collected: &mut Collected| {
        let (add, then) = step.take().expect("a step is added once");
        collected.add(add, when, then)
    };
    node.outside.sent.add_shared(1);
    let added = Pe::try_current(|pe| {
        if !Arc::ptr_eq(&pe.node, node) {
            return None;
        }
        let added = pe
            .device_steps
            .with(device, lane, |collected| take(collected).map(|()| collected.batch.len() >= STEPS_MAX));
        Some(added.map(|is_full| {
            if is_full {
                launch_steps(pe);
            }
        }))
    });
    let added = added.flatten().unwrap_or_else(|| {
        let mut alone = Collected::new(device, lane);
        take(&mut alone).map(|()| launch(node, alone))
    });
    if let Err((cause, then)) = added {
        then(node, Err(cause));
        node.outside.processed.add_shared(1);
    }
}

/// Launches what a PE has collected, if the PE has no work, or has had some for long. Returns whether anything was.
#[inline]
pub(crate) fn launch_steps_if_due(pe: &Rc<Pe>, has_work: impl Fn(&Pe) -> bool) -> bool {
    !pe.device_steps.is_empty() && (!has_work(pe) || pe.device_steps.look() >= LOOKS_MAX) && launch_steps(pe)
}

/// Launches what a PE has collected. Returns whether there was anything.
#[inline]
pub(crate) fn launch_steps(pe: &Pe) -> bool {
    if pe.device_steps.is_empty() {
        return false;
    }
    pe.device_steps.take().into_iter().for_each(|collected| launch(&pe.node, collected));
    true
}

fn launch(node: &Arc<Node>, Collected { device, lane, batch, thens }: Collected) {
    let held = node.devices.held(&device).expect("steps are of devices of the node");
    let count = thens.len() as u64;
    held.ways.launches.add_shared(1);
    launch_on(node, held.streams.of(lane), batch, thens);
    node.outside.processed.add_shared(count);
}

/// Launches a batch on a stream.
///
/// # Panics
/// If the device of the batch is not of the node.
pub(super) fn launch_on(node: &Arc<Node>, on: &Stream, batch: Batch, thens: Vec<(When, Then)>) {
    let done = match batch.launch(on) {
        Ok(done) => done,
        Err(cause) => return thens.into_iter().for_each(|(_, then)| then(node, Err(cause.clone()))),
    };
    let (now, past): (Vec<_>, Vec<_>) =
        thens.into_iter().zip(done).partition(|((when, _), _)| *when == When::Launched);
    now.into_iter().for_each(|((_, then), done)| then(node, Ok(done)));
    if past.is_empty() {
        return;
    }
    continue_later(node, on, move |node, passed| {
        past.into_iter().for_each(|((_, then), done)| then(node, passed.clone().map(|()| done)));
    });
}
