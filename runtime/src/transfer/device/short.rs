//! Short device arguments: their bytes travel with the call to another node, which nobody has to ask for.
//!
//! 1. The call is set aside until its short arguments have landed in pinned memory; then it leaves as one with arguments of the host. Messages
//!    have no order, so others may leave before; until then it counts as a message on its way.
//! 2. Arguments whose buffers are written are staged by the steps of the PE's turn. Where a kernel still writes a buffer, the step waits
//!    behind it on a stream of its own, so that nothing else does.
//! 3. Where there is no pinned memory, an argument is not short: its receiver asks for it.
//! 4. The sender is told when the bytes are in the message and no stream uses the buffer; of a posted argument, when the receiver has answered.

use super::across::{as_memory, landed_memory, sender};
use super::continuing::lend;
use super::launching::{launch_on, launch_soon};
use crate::model::call_options::CallOptions;
use crate::model::envelope::Call;
use crate::model::ids::PeId;
use crate::model::nocopy::{Leaving, LeavingDevice, Local, Nocopy, Registration};
use crate::node::Node;
use crate::node::devices::Held;
use crate::node::devices::lanes::Lane;
use crate::pe::device_steps::{Then, When};
use crate::transfer::take::gathering::{Begin, Failure, Gathering, Plan};
use crate::transfer::ways;
use chare_device::{Batch, Device, Done, Facts, Pinned, Way};
use chare_layout::{Plan as Copying, Raw};
use std::sync::Arc;

/// Pinned memory that a call has taken.
type Taken = Vec<(Device, u64)>;

/// Sets a call to a PE of another node aside, if its device arguments are short; `post` sends it when they are on the host, on any thread.
/// Returns it, if it may leave as it is.
pub(crate) fn set_aside(
    node: &Arc<Node>,
    to: PeId,
    options: &CallOptions,
    mut call: Call,
    post: fn(&Arc<Node>, PeId, CallOptions, Call),
) -> Option<Call> {
    if !call.sends_of_devices() {
        return Some(call);
    }
    let Some(Nocopy::Leaving(leaving)) = call.nocopy.as_deref_mut() else { return Some(call) };
    let (mut taken, mut bytes_left) = (Taken::new(), ways::frame_part(node.frame_bytes_max) as u64);
    let plans = std::mem::take(leaving).into_iter().map(|local| match local {
        Local::Device(leaving) => Ok(match stage(node, &leaving, &mut bytes_left) {
            Some((plan, pinned)) => {
                taken.push((leaving.buffer.device().clone(), pinned.len()));
                Plan::Begin(staging(leaving, plan, pinned))
            }
            None => Plan::Ready(Local::Device(leaving)),
        }),
        host => Ok::<_, Failure>(Plan::Ready(host)),
    });
    let gathering = Gathering::plan(plans).unwrap_or_else(|_| unreachable!("no plan is refused"));
    let gathering = match gathering.complete() {
        Ok(locals) => {
            call.nocopy = Some(Box::new(Nocopy::Leaving(locals)));
            return Some(call);
        }
        Err(gathering) => gathering,
    };
    let (entry, options, sender) = (call.entry, options.clone(), sender());
    let what =
        move || format!("sending device buffers of {sender} to {}::{} on {to}", entry.chare, entry.name);
    gathering.fetch(node, what, move |node, locals| {
        call.nocopy = Some(Box::new(Nocopy::Leaving(locals)));
        post(node, to, options, call);
        for (device, bytes) in taken {
            held(node, &device).staging.leave(node, Way::Out, bytes);
        }
    });
    None
}

/// The plan that packs an argument, and pinned memory for it, if it is short and there is some.
fn stage(node: &Arc<Node>, leaving: &LeavingDevice, bytes_left: &mut u64) -> Option<(Arc<Copying>, Pinned)> {
    let (bytes, held) = (leaving.bytes() as u64, held(node, leaving.buffer.device()));
    // Longer ones have more to plan.
    ways::short_of_device(bytes, *bytes_left, || held.model().is_short(Facts::whole(bytes)))?;
    let whole = || Raw::bytes_of(bytes).map(Arc::new);
    // What does not fit is said when it is asked for.
    let layout = leaving.layout.clone().map_or_else(whole, Ok).ok()?;
    let plan = Copying::pack_range(&layout, 0..bytes).ok()?;
    if !held.model().is_short(Facts::of(&plan)) || !held.staging.try_enter(bytes) {
        return None;
    }
    match held.device.pinned(bytes) {
        Ok(pinned) => {
            *bytes_left -= bytes;
            held.ways.short.add_shared(1);
            Some((Arc::new(plan), pinned))
        }
        Err(_) => {
            held.staging.leave(node, Way::Out, bytes);
            None
        }
    }
}

/// Brings an argument to the host.
fn staging(leaving: LeavingDevice, plan: Arc<Copying>, pinned: Pinned) -> Begin<Local> {
    Box::new(move |node, finish| {
        let LeavingDevice { buffer, release, .. } = leaving;
        let device = buffer.device().clone();
        let source = lend(node, buffer, release.clone());
        let then: Then = Box::new(move |node: &Arc<Node>, done| {
            let landed = done.and_then(|done| match done {
                Done::Landed(landed) => landed_memory(landed),
                Done::Filled(_) => unreachable!("it was staged"),
            });
            let local = landed.map(|pinned| {
                let mut leaving = Leaving::plain(as_memory(pinned).freeze(), release);
                leaving.terms.registration = Registration::None;
                Local::Host(leaving)
            });
            finish(node, local.map_err(Failure::Device));
        });
        match source.is_written() {
            Ok(true) => launch_soon(
                node,
                (&device, Lane::Out),
                move |batch| batch.stage(&plan, source, pinned),
                (When::Past, then),
            ),
            Ok(false) => {
                let mut batch = Batch::default();
                let behind = held(node, &device).streams.behind(&device);
                match batch.stage(&plan, source, pinned).and(behind) {
                    Ok(behind) => launch_on(node, behind, batch, vec![(When::Past, then)]),
                    Err(cause) => then(node, Err(cause)),
                }
            }
            Err(cause) => then(node, Err(cause)),
        }
    })
}

/// A device of this node.
fn held<'a>(node: &'a Node, device: &Device) -> &'a Held<Node> {
    node.devices.held(device).expect("what is sent is of a device of the node")
}
