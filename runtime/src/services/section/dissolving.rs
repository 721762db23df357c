//! The end of sections: their members stay, and PEs forget what they keep of the section.

#[cfg(feature = "sim")]
use super::members_at_home::LocalSection;
use super::members_at_home::{Seat, state};
use super::message::{SectionEvent, tell};
use crate::model::ids::{PeId, SectionId, Target};
use crate::pe::Pe;
use crate::pe::places::Absence;
use rustc_hash::FxHashMap;

/// Asks for a section's end.
pub(crate) fn dissolve(pe: &Pe, section: SectionId) {
    tell(pe, section.creator, section, SectionEvent::Dissolving);
}

/// At the root: tells all homes.
pub(super) fn announce(pe: &Pe, section: SectionId) {
    let (homes, calls, was_dissolved) = {
        let mut sections = state(pe).borrow_mut();
        let Some(local) = sections.get_mut(section) else { return };
        let was_dissolved = std::mem::replace(&mut local.is_dissolved, true);
        (local.homes.clone(), local.calls_made, was_dissolved)
    };
    if was_dissolved {
        return pe.fail(format!("dissolving {section}"), "it was dissolved before");
    }
    if !homes.contains(&pe.id) {
        state(pe).borrow_mut().remove(section);
    }
    for home in homes.iter().copied() {
        if home == pe.id {
            expect_calls(pe, section, calls);
        } else {
            tell(pe, home, section, SectionEvent::Dissolved { calls });
        }
    }
}

/// At a home: the section is to be forgotten when so many calls have been received.
pub(super) fn expect_calls(pe: &Pe, section: SectionId, calls: u64) {
    if let Some(local) = state(pe).borrow_mut().get_mut(section) {
        if local.calls_heard < calls {
            chare_lrts::sometimes!("a section was dissolved before all of its calls had come");
        }
        local.calls_due = Some(calls);
    }
    forget_if_over(pe, section);
}

/// At a home: counts a call that has come.
pub(super) fn count_call(pe: &Pe, section: SectionId) {
    if let Some(local) = state(pe).borrow_mut().get_mut(section) {
        local.calls_heard += 1;
    }
    forget_if_over(pe, section);
}

fn forget_if_over(pe: &Pe, section: SectionId) {
    let over = {
        let mut sections = state(pe).borrow_mut();
        let is_over = sections
            .get(section)
            .is_some_and(|local| local.calls_due.is_some_and(|due| local.calls_heard >= due));
        if is_over { sections.remove(section) } else { None }
    };
    let Some(over) = over else { return };
    let mut away: FxHashMap<PeId, Vec<Target>> = FxHashMap::default();
    {
        let places = pe.places.borrow();
        for Seat { target, .. } in over.seats.iter() {
            let Target::Member(id, index) = *target else { continue };
            if let Absence::LivesOn(at) = places.explain_absence(pe.id, id, index) {
                away.entry(at).or_default().push(*target);
            }
        }
    }
    for (at, members) in away {
        tell(pe, at, section, SectionEvent::Forgotten { members });
    }
}

/// The sections that were dissolved and are not forgotten on a PE.
#[cfg(feature = "sim")]
pub(crate) fn unforgotten(pe: &Pe) -> Vec<SectionId> {
    let sections = state(pe).borrow();
    let is_dissolved = |local: &LocalSection| local.is_dissolved || local.calls_due.is_some();
    let kept = sections.known.iter().filter(|(_, local)| is_dissolved(local));
    kept.map(|(section, _)| *section).collect()
}

/// On the PE where these members live, or did: forgets their counts for the section.
pub(super) fn forget(pe: &Pe, section: SectionId, members: &[Target]) {
    let mut sections = state(pe).borrow_mut();
    members.iter().for_each(|member| sections.forget(*member, section));
}
