//! A call of a section at its members: on their homes, and from there where they live.

use super::calls::Multicast;
use super::dissolving;
use crate::call::Call;
use crate::early::Awaited;
use crate::envelope::{Body, Envelope};
use crate::ids::{PeId, Target};
use crate::lifecycle::keep_for;
use crate::location::Absence;
use crate::mailbox::Outcome;
use crate::object::AnyChare;
use crate::outbox;
use crate::pe::Pe;
use crate::queue::CallOptions;
use crate::zerocopy::Nocopy;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Calls members that are here by `call_one`, and sends on what is for others.
pub(crate) fn deliver(
    pe: &Pe,
    options: CallOptions,
    mut multicast: Multicast,
    call_one: impl Fn(Rc<dyn AnyChare>, &CallOptions, &Multicast),
) -> Outcome {
    let (section, members) = (multicast.section, multicast.members.take());
    let mut away: FxHashMap<PeId, Vec<Target>> = FxHashMap::default();
    let mut reach = |target| {
        let here = pe.places.borrow_mut().find(target);
        match here {
            Some(chare) => call_one(chare, &options, &multicast),
            None => send_on(pe, &options, &multicast, target, &mut away),
        }
    };
    match members {
        Some(members) => members.into_iter().for_each(&mut reach),
        None => {
            let seats = pe.sections.borrow().get(section).map(|local| Rc::clone(&local.seats));
            let Some(seats) = seats else {
                let body = Body::Multicast(Box::new(multicast));
                return keep_for(pe, Awaited::Section(section), options, body);
            };
            seats.iter().filter(|seat| seat.is_taken.get()).for_each(|seat| reach(seat.target));
            dissolving::hear_call(pe, section);
        }
    }
    for (to, members) in away {
        let body = Body::Multicast(Box::new(Multicast { members: Some(members), ..multicast.clone() }));
        outbox::send(pe, to, Envelope { options: options.clone(), body });
    }
    Outcome::Processed
}

/// A member is not here.
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
        // It was destroyed meanwhile.
        Absence::Missing if !pe.sections.borrow().has_seat(multicast.section, target) => {}
        // It may still come.
        Absence::Missing | Absence::Unknown => {
            let Multicast { entry, ref arguments, ref nocopy, reference, .. } = *multicast;
            let leaving = || Box::new(Nocopy::Leaving(nocopy.iter().cloned().collect()));
            let nocopy = (!nocopy.is_empty()).then(leaving);
            let arguments = arguments.clone();
            outbox::send_call(pe, options, &target, || Call {
                target,
                from: pe.id,
                entry,
                arguments,
                nocopy,
                reference,
            });
        }
    }
}
