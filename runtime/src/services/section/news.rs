//! News of sections: what PEs tell each other beside calls.

use crate::model::ids::{PeId, SectionId, Target};
use crate::model::reduction::Share;
use serde::{Deserialize, Serialize};

/// Something about a section, for one PE.
#[derive(Serialize, Deserialize)]
pub(super) struct SectionNews {
    pub(super) section: SectionId,
    pub(super) event: SectionEvent,
}

/// See the file's head.
#[derive(Serialize, Deserialize)]
pub(super) enum SectionEvent {
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

impl SectionNews {
    /// About how much memory its contents take.
    pub(super) fn bytes(&self) -> usize {
        match &self.event {
            SectionEvent::Forming { members, .. }
            | SectionEvent::Seated { members, .. }
            | SectionEvent::Required { members }
            | SectionEvent::Forgotten { members } => size_of_val(&**members),
            SectionEvent::Contributed { share, .. } => share.bytes(),
            _ => 0,
        }
    }
}
