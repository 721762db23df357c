//! Arrival of a call's nocopy arguments: each is brought to where it is to be, from this process or another one, from hosts and devices.
//!
//! A call whose arguments have to be fetched waits in a [`Gathering`], whose last transfer delivers it.

use super::destination::Destination;
use super::device::{self, End, Origin};
use super::gathering::{Failure, Gathering, Plan};
use super::receive::{plan, plan_here};
use crate::model::envelope::Call;
use crate::model::ids::PeId;
use crate::model::nocopy::{Arrived, Descriptor, Few, Given, Local, Nocopy, NocopyKind};
use crate::model::registry::EntryRegistration;
use crate::node::Node;
use std::sync::Arc;

/// Brings a call's nocopy arguments in, posted ones into the buffers that were `given`, in declaration order. Returns the call when it is
/// ready; else the call is delivered to its destination later.
///
/// # Errors
/// Buffers that do not fit, keys that name nothing, in words.
pub(crate) fn land(
    node: &Arc<Node>,
    destination: Destination,
    mut call: Call,
    given: Few<Given>,
) -> Result<Option<Call>, String> {
    let mut posted = given.into_iter();
    let kinds = call.entry.nocopy.iter().copied();
    let mut given = |kind: NocopyKind| if kind.is_posted() { posted.next() } else { None };
    let end = |kind| End { pe: destination.pe, kind };
    let gathering = match call.nocopy.as_deref_mut() {
        None | Some(Nocopy::Arrived(_)) => return Ok(Some(call)),
        Some(Nocopy::Leaving(leaving)) => {
            let leaving = kinds.zip(std::mem::take(leaving));
            Gathering::plan(leaving.map(|(kind, local)| plan_local(node, end(kind), local, given(kind))))
        }
        Some(Nocopy::Described(descriptors)) => {
            let described = kinds.zip(std::mem::take(descriptors));
            Gathering::plan(
                described.map(|(kind, descriptor)| plan_described(node, end(kind), descriptor, given(kind))),
            )
        }
    };
    let gathering = match gathering {
        Ok(gathering) => gathering,
        Err(Failure::Words(cause)) => return Err(cause),
        Err(failure) => {
            failure.end(node, fetching(call.entry, destination.pe));
            return Ok(None);
        }
    };
    match gathering.complete() {
        Ok(arrived) => {
            if let Some(nocopy) = call.nocopy.as_deref_mut() {
                *nocopy = Nocopy::Arrived(arrived);
            }
            Ok(Some(call))
        }
        Err(gathering) => {
            let (entry, pe) = (call.entry, destination.pe);
            let what = move || fetching(entry, pe);
            gathering.fetch(node, what, move |node, arrived| {
                call.nocopy = Some(Box::new(Nocopy::Arrived(arrived)));
                destination.deliver(node, call);
            });
            Ok(None)
        }
    }
}

/// The name that an error gives to the transfer of one of a call's nocopy arguments.
fn fetching(entry: &EntryRegistration, pe: PeId) -> String {
    format!("{} on {pe}", entry.fetching())
}

/// Plans the way of an argument from the same process.
fn plan_local(
    node: &Arc<Node>,
    end: End,
    local: Local,
    given: Option<Given>,
) -> Result<Plan<Arrived>, Failure> {
    match (local, given) {
        (Local::Host(leaving), None) if !end.kind.is_of_device() => {
            Ok(plan_here(node, end.kind, leaving, None)?)
        }
        (Local::Host(leaving), Some(Given::Host(given))) => {
            Ok(plan_here(node, end.kind, leaving, Some(given))?)
        }
        (local, given) => device::plan(node, end, Origin::Here(local), given),
    }
}

/// Plans the way of an argument from another process.
fn plan_described(
    node: &Arc<Node>,
    end: End,
    descriptor: Descriptor,
    given: Option<Given>,
) -> Result<Plan<Arrived>, Failure> {
    match (descriptor, given) {
        (Descriptor::Device(described), given) => {
            device::plan(node, end, Origin::There(Descriptor::Device(described)), given)
        }
        (descriptor, None) if !end.kind.is_of_device() => Ok(plan(node, end.kind, descriptor, None)?),
        (descriptor, Some(Given::Host(given))) => Ok(plan(node, end.kind, descriptor, Some(given))?),
        (descriptor, given) => device::plan(node, end, Origin::There(descriptor), given),
    }
}
