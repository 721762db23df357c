//! Multicasts: a call of a section goes to the root of the section, and from there to the homes of its members.

use super::calls::{CallFrame, CallOfSection, Leg, Multicast, SectionCall};
use super::members_at_home::{Standing, state};
use super::message::{ID, SectionFrame, SectionMessage, SectionNews};
use super::tree::{branches, split};
use crate::base::counters::Counters;
use crate::delivery::outbox;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::envelope::Envelope;
use crate::model::error::JobError;
use crate::model::ids::{NodeId, PeId, SectionId};
use crate::model::nocopy::{Few, Local, carried_bytes};
use crate::model::registry::{EntryRegistration, check_count, find_entry};
use crate::node::backpressure::hold_back;
use crate::node::credit::cost_of;
use crate::node::mailbox::Work;
use crate::node::{Arrival, Node};
use crate::pe::Pe;
use crate::pe::early::Missing;
use crate::pe::queued::Outcome;
use crate::transfer::many::{self, Carried, PassedOn, Tail, Wanted};
use std::sync::Arc;

/// Calls an entry of every member with the nocopy arguments that the caller gave: now, or when they have been staged.
pub(crate) fn call_given(
    pe: &Pe,
    options: CallOptions,
    (section, entry, arguments): (SectionId, &'static EntryRegistration, Arguments),
    nocopy: Vec<Local>,
) {
    let of = move |nocopy: Few<Carried>| SectionCall {
        section,
        entry,
        arguments,
        nocopy: nocopy.into_vec(),
        reference: 0,
    };
    match many::take_in(&pe.node, entry, nocopy) {
        Ok(carried) => call(pe, options, of(carried)),
        Err(staging) => {
            let caller = pe.id;
            staging.finish(&pe.node, move |node, carried| {
                let staged = SectionMessage::Staged(of(carried));
                node.deliver_counted(caller, Envelope::system(options, staged));
            });
        }
    }
}

/// Calls an entry of every member. Members on this node read nocopy arguments where the caller has them.
pub(super) fn call(pe: &Pe, options: CallOptions, call: SectionCall) {
    if let Err(cause) = options.check_not_counted().and_then(|()| options.check_not_due()) {
        return pe.fail(what(&call), cause);
    }
    let root = match pe.node.topology.seat_of(call.section.creator) {
        Ok(root) => root,
        Err(cause) => return pe.fail(what(&call), cause),
    };
    if root == pe.id && state(pe).borrow().standing(call.section) == Standing::Known {
        return spread(pe, options, call);
    }
    let kept = state(pe).borrow_mut().keep_call(options, call);
    match kept {
        Ok(()) => pe.counters.sent.add(1),
        Err((mut options, call)) => {
            pe.depart(root, &mut options);
            let message = if pe.node.is_here(root) {
                SectionMessage::Call(call)
            } else {
                describe(&pe.node, root, options.clone(), call)
            };
            outbox::send(pe, root, Envelope::system(options, message));
        }
    }
}

/// A call for humans.
fn what(call: &SectionCall) -> String {
    format!("a call of {}::{} of {}", call.entry.chare, call.entry.name, call.section)
}

/// The message of a call for a root on another node.
fn describe(node: &Node, root: PeId, options: CallOptions, call: SectionCall) -> SectionMessage {
    let SectionCall { section, entry, arguments, nocopy, reference } = call;
    let call = CallOfSection { section, entry: entry.id, options, reference };
    let nocopy = many::describe(node, node.topology.node_of(root), &nocopy);
    SectionMessage::Frame(CallFrame { call, leg: Leg::Up, nocopy }, entry, arguments)
}

/// At the root: makes the calls that have waited for the section, in the order in which they came.
pub(super) fn make_up(pe: &Pe, calls: Vec<(CallOptions, SectionCall)>) {
    for (options, call) in calls {
        spread(pe, options, call);
        pe.counters.processed.add(1);
    }
}

/// At the root: runs a call that has come.
pub(super) fn run(pe: &Pe, options: CallOptions, call: SectionCall) -> Outcome {
    let section = call.section;
    let standing = state(pe).borrow().standing(section);
    match standing {
        Standing::Known => spread(pe, options, call),
        Standing::Unknown if pe.node.numbers.other(section.serial).is_none() => {
            pe.fail(what(&call), "the section was dissolved before; call it no more after that");
        }
        // One of another job is refused there.
        Standing::Forming | Standing::Unknown => {
            return pe.keep(Missing::Section(section), options, SectionMessage::Call(call).into());
        }
    }
    Outcome::Processed
}

/// At the root: sends a call to the homes of all members.
fn spread(pe: &Pe, mut options: CallOptions, call: SectionCall) {
    let SectionCall { section, entry, arguments, nocopy, reference } = call;
    let homes = {
        let mut sections = state(pe).borrow_mut();
        let local = sections.get_mut(section).expect("its caller looked");
        local.calls_made += 1;
        Arc::clone(&local.homes)
    };
    let (near, far) = split(&pe.node.topology, pe.id, &homes);
    pe.depart_to_each(homes.iter().copied(), &mut options);
    let call = CallOfSection { section, entry: entry.id, options: options.clone(), reference };
    let mut children = Vec::new();
    if !far.is_empty() {
        pe.counters.encodes.add(1);
        match pass_on(&pe.node, &pe.counters, &far, &call, &nocopy, Tail::Value(&arguments)) {
            Ok(told) => children = told,
            Err(cause) => pe.fail(format!("a call of {section}"), cause),
        }
    }
    let multicast = multicast(&call, entry, arguments, &nocopy);
    for (to, multicast) in copies(near, multicast) {
        outbox::send(pe, to, Envelope::system(options.clone(), SectionMessage::Multicast(multicast)));
    }
    children.into_iter().for_each(|child| hold_back(&pe.node, child));
}

fn multicast(
    call: &CallOfSection,
    entry: &'static EntryRegistration,
    arguments: Arguments,
    carried: &[Carried],
) -> Multicast {
    let nocopy = carried.iter().map(Carried::for_member).collect();
    let &CallOfSection { section, reference, .. } = call;
    Multicast { section, members: None, entry, arguments, nocopy, reference }
}

/// Copies of a multicast, one for each PE; the last PE gets the original.
fn copies(pes: Vec<PeId>, multicast: Multicast) -> impl Iterator<Item = (PeId, Multicast)> {
    let (mut left, mut original) = (pes.len(), Some(multicast));
    pes.into_iter().filter_map(move |pe| {
        left -= 1;
        let copy = if left == 0 { original.take() } else { original.clone() };
        copy.map(|multicast| (pe, multicast))
    })
}

/// Sends a call to the nodes right below, with the PEs that each is to pass it on to. Returns these nodes.
fn pass_on(
    node: &Node,
    counters: &Counters,
    pes: &[PeId],
    call: &CallOfSection,
    carried: &[Carried],
    tail: Tail<'_>,
) -> Result<Vec<NodeId>, String> {
    let branches = branches(&node.topology, node.id, pes);
    let children: Vec<NodeId> = branches.iter().map(|branch| node.topology.node_of(branch[0])).collect();
    let message = |position: usize, nocopy| {
        let leg = Leg::Down(branches[position].to_vec());
        SectionFrame::<SectionNews, _>::Call(CallFrame { call: call.clone(), leg, nocopy })
    };
    let passed = PassedOn { service: ID, carried, tail, is_run: true };
    many::pass_to(node, counters, &children, passed, message)?;
    Ok(children)
}

/// Takes a call of a section from another node.
///
/// # Errors
/// The part of the frame that does not fit this program or this job, in words.
pub(super) fn arrive(
    node: &Arc<Node>,
    Arrival { source, frame, .. }: Arrival<'_>,
    CallFrame { call, leg, nocopy }: CallFrame,
    rest: &[u8],
) -> Result<(), String> {
    let cost = node.charge(source, cost_of(frame.len(), carried_bytes(&nocopy)))?;
    let entry = find_entry(call.entry)?;
    check_count(nocopy.len(), entry)?;
    let arguments = entry.decode(rest)?;
    let pes = match &leg {
        Leg::Up => std::slice::from_ref(&call.section.creator),
        Leg::Down(pes) => pes,
        Leg::Away { to, .. } => std::slice::from_ref(to),
    };
    pes.iter().try_for_each(|pe| node.topology.seat_of(*pe).map(drop))?;
    if !matches!(leg, Leg::Down(_)) && !node.is_here(pes[0]) {
        return Err(format!("a call of a section for {}, which is not on this node", pes[0]));
    }
    let encoded = if matches!(leg, Leg::Down(_)) { rest.to_vec() } else { Vec::new() };
    let kinds = entry.nocopy.iter().copied();
    let wanted =
        kinds.zip(nocopy).map(|(kind, descriptor)| Wanted { descriptor, kind, into: None }).collect();
    let what = move || entry.fetching();
    many::bring_in(node, cost.source, what, wanted, move |node, carried| match leg {
        Leg::Up => {
            let CallOfSection { section, options, reference, .. } = call;
            let nocopy = carried.into_vec();
            let call = SectionCall { section, entry, arguments, nocopy, reference };
            node.deliver(
                section.creator,
                Work::Message(Envelope::system(options, SectionMessage::Call(call)), cost),
            );
        }
        Leg::Away { to, members } => {
            let options = call.options.clone();
            let multicast =
                Multicast { members: Some(members), ..multicast(&call, entry, arguments, &carried) };
            let envelope = Envelope::system(options, SectionMessage::Multicast(multicast));
            node.deliver(to, Work::Message(envelope, cost));
        }
        Leg::Down(pes) => {
            let (near, far) = split(&node.topology, node.topology.pe(node.id, 0), &pes);
            if let Err(cause) = pass_on(node, &node.outside, &far, &call, &carried, Tail::Encoded(&encoded)) {
                let (what, pe) = ("passing on a call of a section".to_owned(), node.topology.pe(node.id, 0));
                node.fail(JobError::Delivery { what, pe, node: node.id, cause });
            }
            let multicast = multicast(&call, entry, arguments, &carried);
            // Each PE gives a part of the cost back.
            let costs = cost.split(near.len() as u32);
            for ((to, multicast), cost) in copies(near, multicast).zip(costs) {
                let envelope = Envelope::system(call.options.clone(), SectionMessage::Multicast(multicast));
                node.outside.sent.add_shared(1);
                node.deliver(to, Work::Message(envelope, cost));
            }
            node.outside.processed.add_shared(1);
        }
    })
}
