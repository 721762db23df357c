//! Receipt of news of sections: acted on at once, kept until the section is known, or refused because the section never will be.

use super::members_at_home::{Standing, state};
use super::message::{Contributor, SectionEvent, SectionMessage, SectionNews, tell};
use super::{contributing, dissolving, forming};
use crate::model::call_options::CallOptions;
use crate::model::envelope::{Body, opened};
use crate::model::ids::{PeId, SectionId};
use crate::pe::Pe;
use crate::pe::early::Missing;
use crate::pe::queued::Outcome;

/// Receives news of a section.
pub(super) fn receive(pe: &Pe, SectionNews { section, event }: SectionNews) -> Outcome {
    let is_here = state(pe).borrow().get(section).is_some();
    match event {
        SectionEvent::Forming { members, within } => return forming::assemble(pe, section, members, within),
        SectionEvent::Seated { members, within, parent, below } => {
            return forming::seat(pe, section, (members, within), (parent, below));
        }
        SectionEvent::Forgotten { members } => dissolving::forget(pe, section, &members),
        SectionEvent::Doubted { by } => return answer(pe, section, by),
        SectionEvent::Denied { is_dissolved } if !is_here => deny(pe, section, is_dissolved),
        SectionEvent::Denied { .. } => {}
        SectionEvent::Answered { question } => forming::take_answer(pe, question),
        event if !is_here => return wait_in_doubt(pe, section, event),
        SectionEvent::Awaited { callback } => forming::ask(pe, section, callback),
        SectionEvent::Asked { question } => {
            tell(pe, section.creator, section, SectionEvent::Answered { question });
        }
        SectionEvent::Required { members, then } => {
            forming::require(pe, section, &members);
            return receive(pe, *then);
        }
        SectionEvent::Contributed { number, by, share } => {
            contributing::add(pe, section, (number, by), share);
        }
        SectionEvent::Ended { by, contributions } => {
            contributing::end(pe, section, Contributor::Below(by), contributions);
        }
        SectionEvent::Dissolving => dissolving::announce(pe, section),
        SectionEvent::Dissolved { calls } => dissolving::expect_calls(pe, section, calls),
    }
    Outcome::Processed
}

/// The cause of refusal of news that comes too late.
const DISSOLVED: &str = "the section was dissolved before; do that when nobody needs it any more";

/// Keeps news of a section that is not known here yet, and refuses news of one that is known no more.
fn wait_in_doubt(pe: &Pe, section: SectionId, event: SectionEvent) -> Outcome {
    let standing = state(pe).borrow().standing(section);
    let was_formed_here = section.creator == pe.id && pe.node.numbers.other(section.serial).is_none();
    if was_formed_here && standing == Standing::Unknown {
        refuse(pe, section, &event, DISSOLVED);
        return Outcome::Processed;
    }
    // News of the root's own goes only to PEs that will know the section.
    if section.creator != pe.id && !matches!(event, SectionEvent::Dissolved { .. }) {
        tell(pe, section.creator, section, SectionEvent::Doubted { by: pe.id });
    }
    let message = SectionMessage::News(SectionNews { section, event });
    pe.keep(Missing::Section(section), CallOptions::new(), message.into())
}

/// At the root: answers whether a section will come to a PE.
fn answer(pe: &Pe, section: SectionId, by: PeId) -> Outcome {
    let standing = state(pe).borrow().standing(section);
    let is_home = state(pe).borrow().get(section).is_some_and(|local| local.homes.contains(&by));
    match standing {
        Standing::Known if is_home => {}
        Standing::Forming => {
            let message = SectionMessage::News(SectionNews { section, event: SectionEvent::Doubted { by } });
            return pe.keep(Missing::Section(section), CallOptions::new(), message.into());
        }
        _ => tell(pe, by, section, SectionEvent::Denied { is_dissolved: standing == Standing::Unknown }),
    }
    Outcome::Processed
}

/// Takes in the root's answer that a section will not come here, and refuses the news that waited for it.
fn deny(pe: &Pe, section: SectionId, is_dissolved: bool) {
    let cause = if is_dissolved { DISSOLVED } else { "it names somebody who is no member of the section" };
    let early = pe.early.borrow_mut().release(Missing::Section(section));
    for envelope in early {
        if let Body::System(message) = envelope.body
            && let SectionMessage::News(message) = opened(message)
        {
            refuse(pe, section, &message.event, cause);
        }
        pe.counters.processed.add(1);
    }
}

/// Ends the job because of news of a section that does not exist, if the news needs one.
fn refuse(pe: &Pe, section: SectionId, event: &SectionEvent, cause: &str) {
    match event {
        SectionEvent::Contributed { .. } => pe.fail(format!("a contribution to {section}"), cause),
        SectionEvent::Required { .. } => pe.fail(format!("forming a section of members of {section}"), cause),
        SectionEvent::Awaited { .. } | SectionEvent::Asked { .. } => {
            pe.fail(format!("the wait for {section} to be formed"), cause);
        }
        SectionEvent::Dissolving => pe.fail(format!("dissolving {section}"), cause),
        _ => {}
    }
}
