//! Arrival of a call's nocopy arguments: each is brought to where it is to be, from this process or another one, from hosts and devices, and the
//! call to its destination.
//!
//! A call whose arguments have to be fetched waits in a [`Gathering`], whose last transfer delivers it.

use super::device::{self, End, Origin};
use super::take::gathering::{Failure, Gathering, Plan};
use super::take::receive::{Chosen, plan, plan_here};
use super::take::remote_memory::send_release;
use crate::model::call_options::CallOptions;
use crate::model::envelope::{Body, Call, Envelope};
use crate::model::ids::{BegunCall, PeId};
use crate::model::nocopy::{Arrived, Descriptor, Few, Given, Lender, Local, Nocopy, NocopyKind};
use crate::model::registry::EntryRegistration;
use crate::node::Node;
use crate::node::credit::Cost;
use crate::node::mailbox::{Waited, Work};
use crate::node::ways_taken::Argument;
use smallvec::smallvec;
use std::sync::Arc;

/// How far nocopy arguments have come at once.
pub(crate) enum Brought {
    /// All are where their entry takes them from.
    Here,
    /// The others are to be fetched.
    Coming(Coming),
    /// The job is over: one cannot come.
    Ended,
}

/// The nocopy arguments of a call of which some are still to come.
pub(crate) struct Coming(Gathering<Arrived>);

impl Coming {
    /// Fetches what is still to come, then delivers the call to its destination.
    pub(crate) fn fetch(self, node: &Arc<Node>, destination: Destination, mut call: Call) {
        let (entry, pe) = (call.entry, destination.pe);
        self.0.fetch(
            node,
            move || fetching(entry, pe),
            move |node, arrived| {
                call.nocopy = Some(Box::new(Nocopy::Arrived(arrived)));
                destination.deliver(node, call);
            },
        );
    }
}

/// Brings the nocopy arguments of an entry's call to `pe`, posted ones into the buffers that were `given`, in declaration order.
///
/// # Errors
/// Buffers that do not fit, keys that name nothing, in words.
pub(crate) fn bring(
    node: &Arc<Node>,
    pe: PeId,
    entry: &EntryRegistration,
    nocopy: &mut Nocopy,
    given: Few<Option<Given>>,
) -> Result<Brought, String> {
    let mut posted = given.into_iter();
    let mut given = |kind: NocopyKind| if kind.is_posted() { posted.next().flatten() } else { None };
    let end = |position| Parameter {
        end: End { pe, kind: entry.nocopy[position] },
        argument: Argument { entry, position },
    };
    let parameters = (0..entry.nocopy.len()).map(end);
    let gathering = match nocopy {
        Nocopy::Arrived(_) => return Ok(Brought::Here),
        Nocopy::Leaving(leaving) => {
            let leaving = parameters.zip(std::mem::take(leaving));
            Gathering::plan(leaving.map(|(to, local)| plan_local(node, to, local, given(to.end.kind))))
        }
        Nocopy::Described(descriptors) => {
            let mut plan = |(to, descriptor): (Parameter<'_>, _)| {
                plan_described(node, to, descriptor, given(to.end.kind))
            };
            if let [_] = *entry.nocopy
                && let Some(descriptor) = descriptors.pop()
            {
                match plan((end(0), descriptor)) {
                    // Mostly there is one, which is here at once, and takes half the time without a gathering.
                    Ok(Plan::Ready(arrived)) => {
                        *nocopy = Nocopy::Arrived(smallvec![arrived]);
                        return Ok(Brought::Here);
                    }
                    planned => Gathering::plan(std::iter::once(planned)),
                }
            } else {
                Gathering::plan(parameters.zip(std::mem::take(descriptors)).map(plan))
            }
        }
    };
    match gathering.map(Gathering::complete) {
        Ok(Ok(arrived)) => {
            *nocopy = Nocopy::Arrived(arrived);
            Ok(Brought::Here)
        }
        Ok(Err(gathering)) => Ok(Brought::Coming(Coming(gathering))),
        Err(Failure::Words(cause)) => Err(cause),
        Err(failure) => {
            failure.end(node, fetching(entry, pe));
            Ok(Brought::Ended)
        }
    }
}

/// As [`bring`], for a call on its way to its destination. Returns the call when it is ready; else it is delivered later.
///
/// # Errors
/// As for [`bring`].
pub(crate) fn land(
    node: &Arc<Node>,
    destination: &Destination,
    mut call: Call,
    given: Few<Option<Given>>,
) -> Result<Option<Call>, String> {
    let Some(nocopy) = call.nocopy.as_deref_mut() else { return Ok(Some(call)) };
    match bring(node, destination.pe, call.entry, nocopy, given)? {
        Brought::Here => return Ok(Some(call)),
        Brought::Coming(coming) => coming.fetch(node, destination.clone(), call),
        Brought::Ended => {}
    }
    Ok(None)
}

/// Lets go of the nocopy arguments of a call that does not run: their owners have them back.
pub(crate) fn decline(node: &Node, nocopy: Nocopy) {
    let Nocopy::Described(descriptors) = nocopy else { return };
    for descriptor in descriptors {
        let lender = match &descriptor {
            Descriptor::Inline { lender, .. } => *lender,
            Descriptor::Lent { key, token, .. } => Some(Lender { node: key.node, token: *token }),
            Descriptor::Device(described) => {
                device::decline(node, *described);
                None
            }
        };
        if let Some(lender) = lender {
            send_release(node, lender, descriptor.bytes() as u64);
        }
    }
}

/// The name that an error gives to the transfer of one of a call's nocopy arguments.
fn fetching(entry: &EntryRegistration, pe: PeId) -> String {
    format!("{} on {pe}", entry.fetching())
}

/// A parameter that an argument comes to.
#[derive(Clone, Copy)]
struct Parameter<'a> {
    end: End,
    argument: Argument<'a>,
}

impl Parameter<'_> {
    /// Notes the way that was chosen for so many bytes, if there was a choice.
    fn noted(self, node: &Node, (choice, plan): Chosen, bytes: usize) -> Plan<Arrived> {
        if let Some(choice) = choice {
            node.ways_taken.note_received(self.argument, choice.words(), bytes);
        }
        plan
    }
}

/// Plans the way of an argument from the same process.
fn plan_local(
    node: &Arc<Node>,
    to: Parameter<'_>,
    local: Local,
    given: Option<Given>,
) -> Result<Plan<Arrived>, Failure> {
    let (leaving, given) = match (local, given) {
        (Local::Host(leaving), None) if !to.end.kind.is_of_device() => (leaving, None),
        (Local::Host(leaving), Some(Given::Host(given))) => (leaving, Some(given)),
        (local, given) => return device::plan(node, to.end, Origin::Here(local), given),
    };
    let bytes = given.as_ref().map_or_else(|| leaving.bytes(), |given| given.bytes);
    Ok(to.noted(node, plan_here(node, to.end.kind, leaving, given)?, bytes))
}

/// Plans the way of an argument from another process.
fn plan_described(
    node: &Arc<Node>,
    to: Parameter<'_>,
    descriptor: Descriptor,
    given: Option<Given>,
) -> Result<Plan<Arrived>, Failure> {
    let is_of_host = !matches!(descriptor, Descriptor::Device(_));
    let given = match given {
        None if is_of_host && !to.end.kind.is_of_device() => None,
        Some(Given::Host(given)) if is_of_host => Some(given),
        given => return device::plan(node, to.end, Origin::There(descriptor), given),
    };
    let bytes = given.as_ref().map_or_else(|| descriptor.bytes(), |given| given.bytes);
    Ok(to.noted(node, plan(node, to.end.kind, descriptor, given)?, bytes))
}

/// The PE that a call goes to, and the options and the cost of the call.
#[derive(Clone)]
pub(crate) struct Destination {
    pub(crate) pe: PeId,
    pub(crate) options: CallOptions,
    /// The cost of the call, if its PE has not run any of it yet.
    pub(crate) cost: Cost,
    /// The call's name there, if it has come to its chare and waits.
    pub(crate) begun: Option<BegunCall>,
}

impl Destination {
    /// Leaves the call with its PE, ready to run.
    pub(crate) fn deliver(self, node: &Node, call: Call) {
        self.leave(node, call, None);
    }

    /// Leaves a call that cannot run with its PE: the job ends for this reason, unless the chare that the call has waited at is gone.
    ///
    /// # Panics
    /// If it has not come to a chare.
    pub(super) fn refuse(self, node: &Node, call: Call, flaw: String) {
        assert!(self.begun.is_some(), "a call that has not begun has nothing to fail at");
        self.leave(node, call, Some(flaw));
    }

    fn leave(self, node: &Node, call: Call, flaw: Option<String>) {
        let Self { pe, options, cost, begun } = self;
        let work = match begun {
            None => Work::Message(Envelope { options, body: Body::Call(call) }, cost),
            Some(begun) => Work::Waited(Box::new(Waited { begun, options, call, flaw })),
        };
        node.deliver(pe, work);
    }
}
