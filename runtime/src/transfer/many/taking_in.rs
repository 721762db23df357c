//! Taking-in of the nocopy arguments that a caller gives for many, before the call goes out.
//!
//! What lies on a device and is wanted on the host is staged here, once for all, so that the call itself may have to wait. What a layout
//! selects for members that read it side by side is packed, once for all, where it lies; members that post or view take it from there.

use super::carried::{Carried, Whose};
use crate::model::nocopy::{Arrived, Few, LeavingDevice, Local, NocopyKind, Registration};
use crate::model::registry::EntryRegistration;
use crate::node::Node;
use crate::node::ways_taken::Argument;
use crate::transfer::take::gathering::{Failure, Gathering, Plan};
use crate::transfer::{copy::packing, device};
use std::sync::Arc;

/// Arguments of which some are still on their way from a device.
pub(crate) struct Staging {
    entry: &'static EntryRegistration,
    gathering: Gathering<Carried>,
}

impl Staging {
    /// Runs `then` when all arguments are here, on any thread. Until then the call counts as a message on its way. What a device refuses
    /// ends the job.
    pub(crate) fn finish(
        self,
        node: &Arc<Node>,
        then: impl FnOnce(&Arc<Node>, Few<Carried>) + Send + 'static,
    ) {
        let (Self { entry, gathering }, sender) = (self, device::sender());
        node.outside.sent.add_shared(1);
        let what =
            move || format!("sending a device buffer of {sender} to {}::{} of many", entry.chare, entry.name);
        gathering.fetch(node, what, move |node, carried| {
            then(node, carried);
            node.outside.processed.add_shared(1);
        });
    }
}

/// The nocopy arguments that a caller gave for many, as its process holds them.
///
/// # Errors
/// The arguments that have to be staged first, and the others.
pub(crate) fn take_in(
    node: &Arc<Node>,
    entry: &'static EntryRegistration,
    nocopy: Vec<Local>,
) -> Result<Few<Carried>, Box<Staging>> {
    let plans = entry.nocopy.iter().zip(nocopy).enumerate().map(|(position, (kind, local))| {
        let planned = plan(node, *kind, local).unwrap_or_else(Plan::failed);
        let planned = planned.map(move |carried| carried.known_as(Argument { entry, position }));
        Ok::<_, std::convert::Infallible>(planned)
    });
    let Ok(gathering) = Gathering::plan(plans);
    gathering.complete().map_err(|gathering| Box::new(Staging { entry, gathering }))
}

fn plan(node: &Arc<Node>, kind: NocopyKind, local: Local) -> Result<Plan<Carried>, Failure> {
    match local {
        Local::Host(leaving) if kind == NocopyKind::Received => {
            Ok(Plan::Ready(Carried::sent(kind, packing::packed(node, leaving))))
        }
        Local::Host(leaving) => Ok(Plan::Ready(Carried::sent(kind, leaving))),
        Local::Device(leaving) if kind == NocopyKind::DeviceReceived => {
            Ok(Plan::Ready(Carried::on_device(kind, device::packed(node, leaving)?)))
        }
        Local::Device(leaving) if kind.is_of_device() => Ok(Plan::Ready(Carried::on_device(kind, leaving))),
        Local::Device(leaving) => stage(node, kind, leaving),
    }
}

/// Plans to bring a device argument to the host. Its buffer is free when it is there; but who waits to hear how much of it was taken hears
/// it from those who post.
fn stage(node: &Arc<Node>, kind: NocopyKind, leaving: LeavingDevice) -> Result<Plan<Carried>, Failure> {
    let release = leaving.release.clone().filter(|_| kind.is_posted());
    Ok(device::plan_staged(node, leaving)?.map(move |arrived| match arrived {
        Arrived::Received { memory, .. } => {
            Carried::in_memory(kind, (memory, Whose::Copied), Registration::Lazily, release)
        }
        _ => unreachable!("it was brought to the host"),
    }))
}
