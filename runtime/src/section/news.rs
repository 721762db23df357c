//! What PEs tell each other of a section, beside calls of it.

use super::contributing;
use super::dissolving;
use super::forming;
use super::seats::Standing;
use crate::early::Awaited;
use crate::envelope::{Body, Envelope};
use crate::ids::{PeId, SectionId, Target};
use crate::lifecycle::{fail, keep_for};
use crate::mailbox::Outcome;
use crate::outbox;
use crate::pe::Pe;
use crate::queue::CallOptions;
use crate::reduction::Share;
use serde::{Deserialize, Serialize};

/// Something about a section, for one PE.
#[derive(Serialize, Deserialize)]
pub(crate) struct SectionMessage {
    pub(crate) section: SectionId,
    pub(crate) news: SectionNews,
}

/// See the file's head.
#[derive(Serialize, Deserialize)]
pub(crate) enum SectionNews {
    /// On the PE that forms it: these are its members, which belong to section `within`, if one is said.
    Forming { members: Vec<Target>, within: Option<SectionId> },
    /// To a home: these members have their seats there; its place in the tree.
    Seated { members: Vec<Target>, within: Option<SectionId>, parent: PeId, below: u64 },
    /// At a home: these members of another section have to belong to this one.
    Required { members: Vec<Target> },
    /// To a member's home, or from there up the tree.
    Contributed { number: u64, member: Option<Target>, share: Share },
    /// Up the tree: from reduction `end` on, nobody contributes below.
    Ended { end: u64 },
    /// To the root.
    Dissolving,
    /// To a home: to be forgotten after so many calls.
    Dissolved { calls: u64 },
    /// From a home to where these members live.
    Forgotten { members: Vec<Target> },
    /// To the root: `by` was asked about a section that it has not heard of.
    Doubted { by: PeId },
    /// The root's answer: there is no such section, or nobody has a seat there.
    Denied { is_dissolved: bool },
}

impl SectionMessage {
    /// About how much memory its contents take.
    pub(crate) fn bytes(&self) -> usize {
        match &self.news {
            SectionNews::Forming { members, .. }
            | SectionNews::Seated { members, .. }
            | SectionNews::Required { members }
            | SectionNews::Forgotten { members } => size_of_val(&**members),
            SectionNews::Contributed { share, .. } => share.bytes(),
            _ => 0,
        }
    }
}

/// Tells a PE something about a section.
pub(super) fn tell(pe: &Pe, to: PeId, section: SectionId, news: SectionNews) {
    let body = Body::Section(Box::new(SectionMessage { section, news }));
    outbox::send(pe, to, Envelope { options: CallOptions::new(), body });
}

/// Something about a section has come here.
pub(crate) fn hear(pe: &Pe, SectionMessage { section, news }: SectionMessage) -> Outcome {
    let is_here = pe.sections.borrow().get(section).is_some();
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
    let standing = pe.sections.borrow().standing(section);
    if section.creator == pe.id && standing == Standing::Unknown {
        refuse(pe, section, &news, DISSOLVED);
        return Outcome::Processed;
    }
    // What the root says it says to those that will hear of the section.
    if section.creator != pe.id && !matches!(news, SectionNews::Dissolved { .. }) {
        tell(pe, section.creator, section, SectionNews::Doubted { by: pe.id });
    }
    let body = Body::Section(Box::new(SectionMessage { section, news }));
    keep_for(pe, Awaited::Section(section), CallOptions::new(), body)
}

/// At the root: whether a section will be heard of on a PE.
fn answer(pe: &Pe, section: SectionId, by: PeId) -> Outcome {
    let standing = pe.sections.borrow().standing(section);
    let is_home = pe.sections.borrow().get(section).is_some_and(|local| local.homes.contains(&by));
    match standing {
        Standing::Known if is_home => {}
        Standing::Forming => {
            let body = Body::Section(Box::new(SectionMessage { section, news: SectionNews::Doubted { by } }));
            return keep_for(pe, Awaited::Section(section), CallOptions::new(), body);
        }
        _ => tell(pe, by, section, SectionNews::Denied { is_dissolved: standing == Standing::Unknown }),
    }
    Outcome::Processed
}

/// The root says that a section will not come here.
fn deny(pe: &Pe, section: SectionId, is_dissolved: bool) {
    let cause = if is_dissolved { DISSOLVED } else { "it names somebody who is no member of the section" };
    let early = pe.early.borrow_mut().release(Awaited::Section(section));
    for envelope in early {
        if let Body::Section(message) = &envelope.body {
            refuse(pe, section, &message.news, cause);
        }
        pe.counters.processed.add(1);
    }
}

/// Ends the job because of news of a section that is not, if they need one.
fn refuse(pe: &Pe, section: SectionId, news: &SectionNews, cause: &str) {
    match news {
        SectionNews::Contributed { .. } => fail(pe, format!("a contribution to {section}"), cause),
        SectionNews::Required { .. } => fail(pe, format!("forming a section of members of {section}"), cause),
        SectionNews::Dissolving => fail(pe, format!("dissolving {section}"), cause),
        _ => {}
    }
}
