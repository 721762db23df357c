//! Sections' calls delivered to members: on the members' homes, and from there on the PEs where the members live.

use super::calls::{CallFrame, CallOfSection, Leg, Multicast};
use super::dissolving;
use super::members_at_home::state;
use super::message::SectionMessage;
use crate::delivery::outbox;
use crate::delivery::shared_call::{SharedCall, call_member};
use crate::model::call_options::CallOptions;
use crate::model::envelope::{Call, Envelope};
use crate::model::ids::{PeId, Target};
use crate::model::nocopy::Nocopy;
use crate::node::Node;
use crate::pe::Pe;
use crate::pe::early::Missing;
use crate::pe::places::Absence;
use crate::pe::queued::Outcome;
use crate::transfer::describing;
use crate::transfer::many::dealt;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Calls the members that are here, and sends the call on to those that are elsewhere.
pub(super) fn deliver(pe: &Pe, options: CallOptions, mut multicast: Multicast) -> Outcome {
    let (section, members) = (multicast.section, multicast.members.take());
    let mut away: FxHashMap<PeId, Vec<Target>> = FxHashMap::default();
    let mut reach = |target| {
        let here = pe.places.borrow_mut().find(target);
        match here {
            Some(member) => {
                let Multicast { entry, arguments, nocopy, reference, .. } = &multicast;
                let shared = SharedCall { entry, arguments, nocopy, reference: *reference };
                call_member(pe, &options, member, &shared);
            }
            None => send_on(pe, &options, &multicast, target, &mut away),
        }
    };
    match members {
        Some(members) => members.into_iter().for_each(&mut reach),
        None => {
            let seats = state(pe).borrow().get(section).map(|local| Rc::clone(&local.seats));
            let Some(seats) = seats else {
                return pe.keep(
                    Missing::Section(section),
                    options,
                    SectionMessage::Multicast(multicast).into(),
                );
            };
            seats.iter().filter(|seat| seat.is_taken.get()).for_each(|seat| reach(seat.target));
            dissolving::count_call(pe, section);
        }
    }
    for (to, members) in away {
        let multicast = Multicast { members: Some(members), ..multicast.clone() };
        let mut options = options.clone();
        pe.depart(to, &mut options);
        let message = if pe.node.is_here(to) {
            SectionMessage::Multicast(multicast)
        } else {
            describe(&pe.node, to, options.clone(), multicast)
        };
        outbox::send(pe, to, Envelope::system(options, message));
    }
    Outcome::Processed
}

/// The message of a call for members that live on another node.
fn describe(node: &Node, to: PeId, options: CallOptions, multicast: Multicast) -> SectionMessage {
    let Multicast { section, members, entry, arguments, nocopy, reference } = multicast;
    let call = CallOfSection { section, entry: entry.id, options, reference };
    let leg = Leg::Away { to, members: members.unwrap_or_default() };
    let peer = node.topology.node_of(to);
    let kinds = entry.nocopy.iter().zip(nocopy);
    let nocopy =
        kinds.map(|(kind, local)| describing::describe_to_many(node, peer, *kind, local).into()).collect();
    SectionMessage::Frame(CallFrame { call, leg, nocopy }, entry, arguments)
}

/// Sends a call on to a member that is not here: with others for the same PE in `away`, or as a call of its own.
fn send_on(
    pe: &Pe,
    options: &CallOptions,
    multicast: &Multicast,
    target: Target,
    away: &mut FxHashMap<PeId, Vec<Target>>,
) {
    let Target::Member(collection, index) = target else { return };
    let absence = pe.places.borrow().explain_absence(pe.id, collection, index);
    match absence {
        Absence::HomeIs(to) | Absence::LivesOn(to) => away.entry(to).or_default().push(target),
        // The member was destroyed meanwhile.
        Absence::Ended => {}
        Absence::Nowhere if !state(pe).borrow().has_seat(multicast.section, target) => {}
        // The member may still come, or is under way.
        Absence::Nowhere | Absence::Unknown | Absence::UnderWay => {
            let Multicast { entry, ref arguments, ref nocopy, reference, .. } = *multicast;
            let nocopy = match dealt::for_member(pe, options, nocopy.clone(), target) {
                Ok(nocopy) => Some(nocopy).filter(|nocopy| !nocopy.is_empty()),
                Err(cause) => return pe.fail(format!("a call of {}::{}", entry.chare, entry.name), cause),
            };
            let arguments = arguments.clone();
            outbox::send_call(pe, &options.for_one(), &target, || Call {
                target,
                from: pe.id,
                entry,
                arguments,
                nocopy: nocopy.map(|nocopy| Box::new(Nocopy::Leaving(nocopy))),
                reference,
            });
        }
    }
}
