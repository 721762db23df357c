//! News of sections: the messages between PEs beside calls.

use crate::model::callback::ErasedCallback;
use crate::model::ids::{PeId, SectionId, Target};
use crate::model::reduction::Share;
use serde::{Deserialize, Serialize};

/// News of a section, for one PE.
#[derive(Serialize, Deserialize)]
pub(super) struct SectionNews {
    pub(super) section: SectionId,
    pub(super) event: SectionEvent,
}

/// An event in the life of a section.
#[derive(Serialize, Deserialize)]
pub(super) enum SectionEvent {
    /// On the PE that forms the section: these are its members, which must belong to section `within`, if there is one.
    Forming { members: Vec<Target>, within: Option<SectionId> },
    /// To a home: these members have their seats there; `parent` and `below` are its place in the tree.
    Seated { members: Vec<Target>, within: Option<SectionId>, parent: PeId, below: u64 },
    /// At a home: these members have to belong to this section before a section of them is formed by the news `then`.
    Required { members: Vec<Target>, then: Box<SectionNews> },
    /// To the root: the callback waits until the section is formed.
    Awaited { callback: ErasedCallback },
    /// To a home: it is to answer when the members have their seats there.
    Asked { question: u64 },
    /// To the root: a home's answer.
    Answered { question: u64 },
    /// A contribution, and its number among those of who contributes.
    Contributed { number: u64, by: Contributor, share: Share },
    /// Up the tree: nobody contributes below any more, after so many contributions.
    Ended { by: PeId, contributions: u64 },
    /// To the root: the section is to be dissolved.
    Dissolving,
    /// To a home: the section is to be forgotten after so many calls.
    Dissolved { calls: u64 },
    /// From a home to where these members live.
    Forgotten { members: Vec<Target> },
    /// To the root: PE `by` has received news of a section that it does not know.
    Doubted { by: PeId },
    /// The root's answer: there is no such section, or no member has a seat on that PE.
    Denied { is_dissolved: bool },
}

/// Who contributes to a reduction.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) enum Contributor {
    /// A member, at its home.
    Member(Target),
    /// A place below in the tree.
    Below(PeId),
}

impl SectionNews {
    /// The memory that its contents take, in bytes, about.
    pub(super) fn bytes(&self) -> usize {
        match &self.event {
            SectionEvent::Forming { members, .. }
            | SectionEvent::Seated { members, .. }
            | SectionEvent::Forgotten { members } => size_of_val(&**members),
            SectionEvent::Required { members, then } => size_of_val(&**members) + then.bytes(),
            SectionEvent::Contributed { share, .. } => share.bytes(),
            _ => 0,
        }
    }
}
