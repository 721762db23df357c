//! Formation of sections: a list of members becomes seats at the members' homes; and the news that a section is formed, for which the root asks
//! every home, and calls back when all have answered.

use super::contributing::give_up_seat;
use super::members_at_home::{LocalSection, Standing, show, state};
use super::message::{SectionEvent, SectionMessage, SectionNews, tell};
use super::multicast::make_up;
use super::tree::{in_order, place_all};
use crate::delivery::fire::fire;
use crate::delivery::outbox;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::callback::ErasedCallback;
use crate::model::collection::CollectionInfo;
use crate::model::envelope::Envelope;
use crate::model::ids::{PeId, SectionId, Target};
use crate::pe::Pe;
use crate::pe::early::Missing;
use crate::pe::places::Absence;
use crate::pe::queued::Outcome;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Forms a section of these members, which must belong to section `within`, if there is one.
pub(crate) fn form(pe: &Pe, members: Vec<Target>, within: Option<SectionId>) -> SectionId {
    let section = SectionId { creator: pe.id, serial: pe.serials.next_section() };
    let known = collections_of(pe, &members);
    state(pe).borrow_mut().announce(section, known);
    let event = SectionEvent::Forming { members, within };
    let message = SectionMessage::News(SectionNews { section, event });
    outbox::send(pe, pe.id, Envelope::system(CallOptions::new().expedited(), message));
    section
}

/// The collections of these members that are known here.
fn collections_of(pe: &Pe, members: &[Target]) -> Vec<Arc<CollectionInfo>> {
    let places = pe.places.borrow();
    let mut known: Vec<Arc<CollectionInfo>> = Vec::new();
    for member in members {
        if let Target::Member(id, _) = member
            && known.iter().all(|info| info.id != *id)
            && let Some(collection) = places.collection(*id)
        {
            known.push(Arc::clone(&collection.info));
        }
    }
    known
}

/// On the PE that forms the section: gives the members their seats, once their homes are known.
pub(super) fn assemble(
    pe: &Pe,
    section: SectionId,
    mut members: Vec<Target>,
    within: Option<SectionId>,
) -> Outcome {
    if state(pe).borrow().standing(section) != Standing::Forming {
        pe.fail(format!("forming {section}"), "it was formed before, or elsewhere");
        return Outcome::Processed;
    }
    members.sort_unstable();
    members.dedup();
    let mut homes: BTreeMap<PeId, Vec<Target>> = BTreeMap::new();
    for member in &members {
        match home_of(pe, section, *member) {
            Ok(home) => homes.entry(home).or_default().push(*member),
            Err(awaited) => {
                let event = SectionEvent::Forming { members, within };
                let message = SectionMessage::News(SectionNews { section, event });
                return pe.keep(awaited, CallOptions::new().expedited(), message.into());
            }
        }
    }
    if let (Some(whole), Some(own)) = (within, homes.get(&pe.id))
        && !is_known(pe, whole)
    {
        let event = SectionEvent::Forming { members, within };
        return require_later(pe, whole, own.clone(), SectionNews { section, event });
    }
    let pes: Arc<[PeId]> = in_order(&pe.node.topology, pe.id, homes.keys().copied()).into();
    let own = homes.remove(&pe.id).unwrap_or_default();
    let mut waiting = Vec::new();
    for place in place_all(&pe.node.topology, pe.id, &pes) {
        match place.parent {
            None => {
                let local = LocalSection::new(&own, None, place.below, Arc::clone(&pes));
                waiting = state(pe).borrow_mut().insert(section, local);
            }
            Some(parent) => {
                let members = homes.remove(&place.pe).unwrap_or_default();
                tell(
                    pe,
                    place.pe,
                    section,
                    SectionEvent::Seated { members, within, parent, below: place.below },
                );
            }
        }
    }
    make_up(pe, waiting);
    check_and_open(pe, section, own, within);
    Outcome::Processed
}

/// The home of a member.
///
/// # Errors
/// The news that has to come before the home is known.
fn home_of(pe: &Pe, section: SectionId, member: Target) -> Result<PeId, Missing> {
    match member {
        Target::Chare(id) => Ok(id.home),
        Target::Member(id, index) => {
            let places = pe.places.borrow();
            match places.collection(id) {
                Some(known) => Ok(known.info.home(index)),
                // Nobody is there any more. The home has what was contributed before; elsewhere nobody was when the section was named.
                None if places.has_ended(id) => {
                    let home = state(pe).borrow().home_while_forming(section, (id, index));
                    Ok(home.unwrap_or(pe.id))
                }
                None => Err(Missing::Collection(id)),
            }
        }
    }
}

/// At a home: gives these members their seats here.
pub(super) fn seat(
    pe: &Pe,
    section: SectionId,
    (mut members, within): (Vec<Target>, Option<SectionId>),
    (parent, below): (PeId, u64),
) -> Outcome {
    if state(pe).borrow().get(section).is_some() {
        pe.fail(format!("forming {section}"), "it was formed before");
        return Outcome::Processed;
    }
    if let Some(awaited) = members.iter().find_map(|member| home_of(pe, section, *member).err()) {
        let event = SectionEvent::Seated { members, within, parent, below };
        let message = SectionMessage::News(SectionNews { section, event });
        return pe.keep(awaited, CallOptions::new(), message.into());
    }
    if let Some(whole) = within.filter(|whole| !is_known(pe, *whole)) {
        let required = members.clone();
        let event = SectionEvent::Seated { members, within, parent, below };
        return require_later(pe, whole, required, SectionNews { section, event });
    }
    // They come in order, as far as their sender is honest.
    members.sort_unstable();
    members.dedup();
    let local = LocalSection::new(&members, Some(parent), below, Arc::default());
    state(pe).borrow_mut().insert(section, local);
    check_and_open(pe, section, members, within);
    Outcome::Processed
}

/// Checks the members with their home here, lets those that were destroyed give up their seats, and releases the messages that have waited
/// for the section.
fn check_and_open(pe: &Pe, section: SectionId, members: Vec<Target>, within: Option<SectionId>) {
    let (mut seated, mut absent) = (Vec::with_capacity(members.len()), Vec::new());
    for member in members {
        // One that contributed and is gone was the member, also where another one has its index meanwhile.
        let has_ended = state(pe).borrow().has_ended(section, member);
        let presence = if has_ended { Presence::Destroyed } else { presence_of(pe, member) };
        match presence {
            Presence::Expected => seated.push(member),
            Presence::Destroyed => absent.push(member),
            Presence::Never(cause) => return pe.fail(format!("forming {section}"), cause),
        }
    }
    pe.release_early(Missing::Section(section));
    absent.into_iter().for_each(|member| give_up_seat(pe, section, member));
    if let Some(whole) = within.filter(|_| !seated.is_empty()) {
        require(pe, whole, &seated);
    }
}

fn is_known(pe: &Pe, section: SectionId) -> bool {
    state(pe).borrow().get(section).is_some()
}

/// At a home: forms a section of members of `whole` when `whole` is known here. Whoever hears that the section is formed may dissolve `whole`.
fn require_later(pe: &Pe, whole: SectionId, members: Vec<Target>, then: SectionNews) -> Outcome {
    let event = SectionEvent::Required { members, then: Box::new(then) };
    tell(pe, pe.id, whole, event);
    Outcome::Processed
}

/// At a home: checks that these members belong to the section, or did until they were destroyed.
pub(super) fn require(pe: &Pe, section: SectionId, members: &[Target]) {
    let sections = state(pe).borrow();
    let is_stranger = |member: &&Target| {
        let was_destroyed = || matches!(presence_of(pe, **member), Presence::Destroyed);
        !sections.has_seat(section, **member) && !was_destroyed()
    };
    if let Some(stranger) = members.iter().find(is_stranger) {
        let cause = format!("{} belongs to no {section}", show(pe, *stranger));
        drop(sections);
        pe.fail(format!("forming a section of members of {section}"), cause);
    }
}

/// The presence of a member of a section, as its home knows it.
enum Presence {
    /// It is there, or may still come.
    Expected,
    /// It was there, and no other has come in its place.
    Destroyed,
    /// There cannot be such a member, for this reason.
    Never(String),
}

fn presence_of(pe: &Pe, member: Target) -> Presence {
    let Target::Member(id, index) = member else {
        return Presence::Never("a singleton belongs to no section".to_owned());
    };
    let places = pe.places.borrow();
    let Some(collection) = places.collection(id) else {
        return if places.has_ended(id) { Presence::Destroyed } else { Presence::Expected };
    };
    let is_here = collection.members.include(index);
    if is_here || !matches!(places.explain_absence(pe.id, id, index), Absence::Nowhere) {
        Presence::Expected
    } else if collection.info.began_with(index) || state(pe).borrow().was_noted(member) {
        Presence::Destroyed
    } else if collection.may_come() {
        Presence::Expected
    } else {
        Presence::Never(collection.info.explain_absence(index))
    }
}

/// Lets a callback have the news that a section is formed.
pub(crate) fn tell_when_formed(pe: &Pe, section: SectionId, callback: ErasedCallback) {
    tell(pe, section.creator, section, SectionEvent::Awaited { callback });
}

/// At the root, where the section is known: asks all homes.
pub(super) fn ask(pe: &Pe, section: SectionId, callback: ErasedCallback) {
    let homes = state(pe).borrow().get(section).map(|local| local.homes.clone()).unwrap_or_default();
    if homes.is_empty() {
        return fire(pe, callback, Arguments::new(()));
    }
    let question = state(pe).borrow_mut().questions.add(callback, homes.len());
    for home in homes.iter() {
        tell(pe, *home, section, SectionEvent::Asked { question });
    }
}

/// At the root: takes in that a home has given the members their seats.
pub(super) fn take_answer(pe: &Pe, question: u64) {
    let callback = state(pe).borrow_mut().questions.answer(question);
    if let Some(callback) = callback {
        fire(pe, callback, Arguments::new(()));
    }
}
