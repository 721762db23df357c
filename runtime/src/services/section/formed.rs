//! The news that a section is formed: the root asks every home, and calls back when all have answered.

use super::members_at_home::state;
use super::message::tell;
use super::news::SectionEvent;
use crate::delivery::fire::fire;
use crate::model::arguments::Arguments;
use crate::model::callback::ErasedCallback;
use crate::model::ids::SectionId;
use crate::pe::Pe;

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
