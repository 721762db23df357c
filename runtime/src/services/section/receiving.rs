//! News of sections as they come: done at once, kept until the section is known, or refused because it never will be.

use super::members_at_home::{Standing, state};
use super::message::{Message, tell};
use super::news::{SectionMessage, SectionNews};
use super::{contributing, dissolving, forming};
use crate::model::call_options::CallOptions;
use crate::model::envelope::{Body, opened};
use crate::model::ids::{PeId, SectionId};
use crate::pe::Pe;
use crate::pe::early::Missing;
use crate::pe::queued::Outcome;

/// Something about a section has come here.
pub(super) fn receive(pe: &Pe, SectionMessage { section, news }: SectionMessage) -> Outcome {
    let is_here = state(pe).borrow().get(section).is_some();
    match news {
        SectionNews::Forming { members, within } => return forming::assemble(pe, section, members, within),
        SectionNews::Seated { members, within, parent, below } => {
            return forming::seat(pe, section, (members, within), (parent, below));
        }
        SectionNews::Forgotten { members } => dissolving::forget(pe, section, &members),
        SectionNews::Doubted { by } => return answer(pe, section, by),
        SectionNews::Denied { is_dissolved } if !is_here => deny(pe, section, is_dissolved),
        SectionNews::Denied { .. } => {}
        news if !is_here => return wait_in_doubt(pe, section, news),
        SectionNews::Required { members } => forming::require(pe, section, &members),
        SectionNews::Contributed { number, member, share } => {
            contributing::add(pe, section, (number, member), share);
        }
        SectionNews::Ended { end } => contributing::end_below(pe, section, end),
        SectionNews::Dissolving => dissolving::announce(pe, section),
        SectionNews::Dissolved { calls } => dissolving::expect_calls(pe, section, calls),
    }
    Outcome::Processed
}

/// Why it is too late.
const DISSOLVED: &str = "the section was dissolved before; do that when nobody needs it any more";

/// News of a section that has not been heard of here, or is not any more.
fn wait_in_doubt(pe: &Pe, section: SectionId, news: SectionNews) -> Outcome {
    let standing = state(pe).borrow().standing(section);
    if section.creator == pe.id && standing == Standing::Unknown {
        refuse(pe, section, &news, DISSOLVED);
        return Outcome::Processed;
    }
    // What the root says it says to those that will hear of the section.
    if section.creator != pe.id && !matches!(news, SectionNews::Dissolved { .. }) {
        tell(pe, section.creator, section, SectionNews::Doubted { by: pe.id });
    }
    let message = Message::News(SectionMessage { section, news });
    pe.keep(Missing::Section(section), CallOptions::new(), message.into())
}

/// At the root: whether a section will be heard of on a PE.
fn answer(pe: &Pe, section: SectionId, by: PeId) -> Outcome {
    let standing = state(pe).borrow().standing(section);
    let is_home = state(pe).borrow().get(section).is_some_and(|local| local.homes.contains(&by));
    match standing {
        Standing::Known if is_home => {}
        Standing::Forming => {
            let message = Message::News(SectionMessage { section, news: SectionNews::Doubted { by } });
            return pe.keep(Missing::Section(section), CallOptions::new(), message.into());
        }
        _ => tell(pe, by, section, SectionNews::Denied { is_dissolved: standing == Standing::Unknown }),
    }
    Outcome::Processed
}

/// The root says that a section will not come here.
fn deny(pe: &Pe, section: SectionId, is_dissolved: bool) {
    let cause = if is_dissolved { DISSOLVED } else { "it names somebody who is no member of the section" };
    let early = pe.early.borrow_mut().release(Missing::Section(section));
    for envelope in early {
        if let Body::System(message) = envelope.body
            && let Message::News(message) = opened(message)
        {
            refuse(pe, section, &message.news, cause);
        }
        pe.counters.processed.add(1);
    }
}

/// Ends the job because of news of a section that is not, if they need one.
fn refuse(pe: &Pe, section: SectionId, news: &SectionNews, cause: &str) {
    match news {
        SectionNews::Contributed { .. } => pe.fail(format!("a contribution to {section}"), cause),
        SectionNews::Required { .. } => pe.fail(format!("forming a section of members of {section}"), cause),
        SectionNews::Dissolving => pe.fail(format!("dissolving {section}"), cause),
        _ => {}
    }
}
