//! Messages of sections to one PE, calls and news, and their frames between nodes.

use super::calls::{CallFrame, Multicast, SectionCall};
use crate::delivery::outbox;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::callback::ErasedCallback;
use crate::model::envelope::{Body, Envelope, SystemMessage};
use crate::model::ids::{PeId, SectionId, ServiceId, Target};
use crate::model::nocopy::{Local, carried_bytes};
use crate::model::reduction::Share;
use crate::model::registry::EntryRegistration;
use crate::pe::Pe;
use crate::transfer::many::Carried;
use chare_lrts::codec::{CodecError, Writer};
use serde::{Deserialize, Serialize};

pub(crate) const ID: ServiceId = ServiceId(1);

/// A message about a section for one PE.
pub(super) enum SectionMessage {
    /// A call, to the root of a section.
    Call(SectionCall),
    /// A call whose nocopy arguments were staged, back at its caller.
    Staged(SectionCall),
    /// A call, to members of a section.
    Multicast(Multicast),
    News(SectionNews),
    /// Either kind of call, for another node.
    Frame(CallFrame, &'static EntryRegistration, Arguments),
}

/// A message about a section between nodes; the arguments of a call follow.
#[derive(Serialize, Deserialize)]
pub(super) enum SectionFrame<N, C> {
    News { to: PeId, message: N },
    Call(C),
}

impl From<SectionMessage> for Body {
    fn from(message: SectionMessage) -> Self {
        Self::System(Box::new(message))
    }
}

impl SystemMessage for SectionMessage {
    fn service(&self) -> ServiceId {
        ID
    }

    fn describe(&self) -> String {
        let (entry, section) = match self {
            Self::Call(SectionCall { entry, section, .. })
            | Self::Staged(SectionCall { entry, section, .. })
            | Self::Multicast(Multicast { entry, section, .. }) => (entry, section),
            Self::Frame(frame, entry, _) => (entry, &frame.call.section),
            Self::News(message) => return format!("news of {}", message.section),
        };
        format!("a call of {}::{} of {section}", entry.chare, entry.name)
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Call(call) | Self::Staged(call) => {
                call.arguments.encoded_bytes() + call.nocopy.iter().map(Carried::kept_bytes).sum::<usize>()
            }
            Self::Multicast(multicast) => {
                let nocopy = multicast.nocopy.iter().map(Local::kept_bytes);
                multicast.arguments.encoded_bytes() + nocopy.sum::<usize>()
            }
            Self::News(message) => message.bytes(),
            Self::Frame(..) => 0,
        }
    }

    fn has_arguments(&self) -> bool {
        matches!(self, Self::Frame(..))
    }

    fn lent_bytes(&self) -> u64 {
        match self {
            Self::Frame(frame, ..) => carried_bytes(&frame.nocopy),
            _ => 0,
        }
    }

    fn write(&self, to: PeId, out: &mut Writer<'_>) -> Result<(), CodecError> {
        match self {
            Self::News(message) => out.write(&SectionFrame::<_, CallFrame>::News { to, message }),
            Self::Frame(frame, _, arguments) => {
                out.write(&SectionFrame::<SectionNews, _>::Call(frame))?;
                arguments.encode(out)
            }
            Self::Call(_) | Self::Staged(_) | Self::Multicast(_) => {
                unreachable!("it is made a frame before it leaves its node")
            }
        }
    }
}

/// Tells a PE something about a section.
pub(super) fn tell(pe: &Pe, to: PeId, section: SectionId, event: SectionEvent) {
    let message = SectionMessage::News(SectionNews { section, event });
    outbox::send(pe, to, Envelope::system(CallOptions::new(), message));
}

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
