//! A call of a section on its way: to the root, and from there to the homes of its members.

use super::calls::{CallOfSection, Leg, Multicast, SectionCall};
use super::seats::Standing;
use super::tree::{branches, split};
use crate::credit::Toll;
use crate::early::Awaited;
use crate::envelope::{self, Body, Envelope, Header};
use crate::error::JobError;
use crate::holding::hold_back;
use crate::ids::{NodeId, PeId};
use crate::lifecycle::{fail, keep_for};
use crate::mailbox::{Outcome, Work};
use crate::message::Arguments;
use crate::node::Node;
use crate::outbox;
use crate::pe::Pe;
use crate::queue::CallOptions;
use crate::registry::EntryRegistration;
use crate::stats::Counters;
use crate::zerocopy::Descriptor;
use crate::zerocopy::carry::{self, Carried, Wanted};
use std::sync::Arc;

/// Calls an entry of every member. Members on this node read nocopy arguments where the caller has them.
pub(crate) fn call(pe: &Pe, options: CallOptions, call: SectionCall) {
    let root = call.section.creator;
    if root == pe.id && pe.sections.borrow().standing(call.section) == Standing::Known {
        return spread(pe, &options, call);
    }
    let kept = pe.sections.borrow_mut().keep_call(options, call);
    match kept {
        Ok(()) => pe.counters.sent.add(1),
        Err((options, call)) => {
            outbox::send(pe, root, Envelope { options, body: Body::SectionCall(Box::new(call)) });
        }
    }
}

/// At the root: makes the calls that have waited for the section, in the order in which they came.
pub(super) fn make_up(pe: &Pe, calls: Vec<(CallOptions, SectionCall)>) {
    for (options, call) in calls {
        spread(pe, &options, call);
        pe.counters.processed.add(1);
    }
}

/// A call has come to the root.
pub(crate) fn run(pe: &Pe, options: CallOptions, call: SectionCall) -> Outcome {
    let section = call.section;
    let standing = pe.sections.borrow().standing(section);
    match standing {
        Standing::Known => spread(pe, &options, call),
        Standing::Forming => {
            return keep_for(pe, Awaited::Section(section), options, Body::SectionCall(Box::new(call)));
        }
        Standing::Unknown => {
            let what = format!("a call of {}::{} of {section}", call.entry.chare, call.entry.name);
            fail(pe, what, "the section was dissolved before; call it no more after that");
        }
    }
    Outcome::Processed
}

/// At the root: tells the homes of all members.
fn spread(pe: &Pe, options: &CallOptions, call: SectionCall) {
    let SectionCall { section, entry, arguments, nocopy, reference } = call;
    let homes = {
        let mut sections = pe.sections.borrow_mut();
        let local = sections.get_mut(section).expect("its caller looked");
        local.calls_made += 1;
        Arc::clone(&local.homes)
    };
    let (near, far) = split(pe.node.layout, pe.id, &homes);
    let call = CallOfSection { section, entry: entry.id, options: options.clone(), reference };
    let mut children = Vec::new();
    if !far.is_empty() {
        pe.counters.encodes.add(1);
        let mut encoded = Vec::new();
        let told = arguments
            .encode_into(&mut encoded)
            .map_err(|error| error.to_string())
            .and_then(|()| pass_on(&pe.node, &pe.counters, &far, &call, &nocopy, &encoded));
        match told {
            Ok(told) => children = told,
            Err(cause) => fail(pe, format!("a call of {section}"), cause),
        }
    }
    let multicast = multicast(&call, entry, arguments, &nocopy);
    for (to, multicast) in copies(near, multicast) {
        outbox::send(
            pe,
            to,
            Envelope { options: options.clone(), body: Body::Multicast(Box::new(multicast)) },
        );
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

/// One for each PE; the last takes the original.
fn copies(pes: Vec<PeId>, multicast: Multicast) -> impl Iterator<Item = (PeId, Multicast)> {
    let (mut left, mut original) = (pes.len(), Some(multicast));
    pes.into_iter().filter_map(move |pe| {
        left -= 1;
        let copy = if left == 0 { original.take() } else { original.clone() };
        copy.map(|multicast| (pe, multicast))
    })
}

/// Tells the nodes right below, each what it is to pass on. Returns which they are.
fn pass_on(
    node: &Node,
    counters: &Counters,
    pes: &[PeId],
    call: &CallOfSection,
    carried: &[Carried],
    encoded: &[u8],
) -> Result<Vec<NodeId>, String> {
    let branches = branches(node.layout, pes);
    let children: Vec<NodeId> = branches.iter().map(|branch| node.layout.node_of(branch[0])).collect();
    let header = |position: usize, nocopy| {
        let leg = Leg::Down(branches[position].to_vec());
        Header::Multicast { call: call.clone(), leg, nocopy }
    };
    carry::pass_to(node, counters, &children, carried, header, encoded)?;
    Ok(children)
}

/// Takes a call of a section from another node.
///
/// # Errors
/// What does not fit this program or this job, in words.
pub(crate) fn accept(
    node: &Arc<Node>,
    toll: Toll,
    (call, leg): (CallOfSection, Leg),
    nocopy: Vec<Descriptor>,
    rest: &[u8],
) -> Result<(), String> {
    let entry = envelope::find_entry(call.entry)?;
    envelope::check_count(nocopy.len(), entry)?;
    let arguments = (entry.decode)(rest).map_err(|error| error.to_string())?;
    let pes = match &leg {
        Leg::Up => std::slice::from_ref(&call.section.creator),
        Leg::Down(pes) => pes,
        Leg::Away { to, .. } => std::slice::from_ref(to),
    };
    if let Some(beyond) = pes.iter().find(|pe| pe.0 >= node.layout.pes()) {
        return Err(format!("a call of a section on {beyond}, which does not exist"));
    }
    if !matches!(leg, Leg::Down(_)) && !node.is_here(pes[0]) {
        return Err(format!("a call of a section for {}, which is not on this node", pes[0]));
    }
    let encoded = if matches!(leg, Leg::Down(_)) { rest.to_vec() } else { Vec::new() };
    let kinds = entry.nocopy.iter().copied();
    let wanted =
        kinds.zip(nocopy).map(|(kind, descriptor)| Wanted { descriptor, kind, into: None }).collect();
    let what = move || entry.fetching();
    carry::bring_in(node, toll.source, what, wanted, move |node, carried| match leg {
        Leg::Up => {
            let CallOfSection { section, options, reference, .. } = call;
            let nocopy = carried.into_vec();
            let call = SectionCall { section, entry, arguments, nocopy, reference };
            let body = Body::SectionCall(Box::new(call));
            node.deliver(section.creator, Work::Message(Envelope { options, body }, toll));
        }
        Leg::Away { to, members } => {
            let options = call.options.clone();
            let multicast =
                Multicast { members: Some(members), ..multicast(&call, entry, arguments, &carried) };
            let body = Body::Multicast(Box::new(multicast));
            node.deliver(to, Work::Message(Envelope { options, body }, toll));
        }
        Leg::Down(pes) => {
            let (near, far) = split(node.layout, node.layout.pe(node.id, 0), &pes);
            if let Err(cause) = pass_on(node, &node.outside, &far, &call, &carried, &encoded) {
                let (what, pe) = ("passing on a call of a section".to_owned(), node.layout.pe(node.id, 0));
                node.fail(JobError::Delivery { what, pe, node: node.id, cause });
            }
            let multicast = multicast(&call, entry, arguments, &carried);
            // Each gives a part of the toll back.
            let tolls = toll.split(near.len() as u32);
            for ((to, multicast), toll) in copies(near, multicast).zip(tolls) {
                let body = Body::Multicast(Box::new(multicast));
                let envelope = Envelope { options: call.options.clone(), body };
                node.outside.sent.add_shared(1);
                node.deliver(to, Work::Message(envelope, toll));
            }
            node.outside.processed.add_shared(1);
        }
    })
}
