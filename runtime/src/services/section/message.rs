//! Messages of sections to one PE, and their frames between nodes.

use super::calls::{CallFrame, Multicast, SectionCall};
use super::news::{SectionEvent, SectionNews};
use crate::delivery::outbox;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::envelope::{Body, Envelope, SystemMessage};
use crate::model::ids::{PeId, SectionId, ServiceId};
use crate::model::nocopy::{Local, carried_bytes};
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
