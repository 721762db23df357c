//! Messages of moves: between the PE where an element lives, the element's home, and the PE to which the element goes.

use crate::model::arguments::Arguments;
use crate::model::envelope::{Body, SystemMessage};
use crate::model::ids::{ChareTypeId, CollectionId, Index, PeId, ServiceId};
use crate::model::parcel::{Parcel, WrittenParcel};
use crate::model::registry::{ChareRegistration, MovingState};
use crate::model::travel::{Sought, Stay, Traveller};
use chare_lrts::codec::{CodecError, Writer};
use serde::{Deserialize, Serialize};

pub(crate) const ID: ServiceId = ServiceId(14);

/// An element of an array.
pub(super) type Member = (CollectionId, Index);

/// A message about a move for one PE.
pub(super) enum MoveMessage {
    News {
        member: Member,
        news: News,
    },
    /// To the PE where the element is to live.
    State(Box<Moving>),
}

/// News of an element that moves.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum News {
    /// To the home: the element, which lives on `from`, wishes to live on `to`.
    Wish { from: PeId, stay: Stay, to: PeId },
    /// To the PE where the element lives: it may go from its stay `left`, and is on `stay` then.
    Go { left: Stay, stay: Stay, to: PeId },
    /// To the home: the element could not go, and is on `stay` as before.
    Stayed { from: PeId, stay: Stay },
    /// To the home: the element has come to `at`.
    Arrived { at: PeId, stay: Stay },
    /// To the home: a call has found the element that the home waits for.
    Found { sought: Sought },
}

/// An element under way.
pub(super) struct Moving {
    pub(super) record: Record,
    pub(super) chare: &'static ChareRegistration,
    /// The arguments with which it is constructed anew after a panic, for types that are.
    pub(super) renewal: Option<Arguments>,
    pub(super) parcel: Parcel,
    pub(super) state: Box<dyn MovingState>,
}

/// The facts of an element under way that do not depend on its type.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) member: Member,
    pub(super) from: PeId,
    pub(super) traveller: Traveller,
    /// The index's encoding, if its bits are a digest.
    pub(super) name: Option<Box<[u8]>>,
}

/// A message about a move between nodes.
#[derive(Serialize, Deserialize)]
pub(super) enum MoveFrame {
    News { to: PeId, member: Member, news: News },
    State { to: PeId, record: Record, chare: ChareTypeId, renewal: Option<Vec<u8>>, parcel: WrittenParcel },
}

impl From<MoveMessage> for Body {
    fn from(message: MoveMessage) -> Self {
        Self::System(Box::new(message))
    }
}

impl SystemMessage for MoveMessage {
    fn service(&self) -> ServiceId {
        ID
    }

    fn describe(&self) -> String {
        match self {
            Self::News { .. } => "news of an element that moves".to_owned(),
            Self::State(moving) => format!("an element of {} that moves", moving.chare.name),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::News { .. } => 0,
            Self::State(moving) => moving.state.bytes(),
        }
    }

    fn has_arguments(&self) -> bool {
        matches!(self, Self::State(_))
    }

    fn write(&self, to: PeId, out: &mut Writer<'_>) -> Result<(), CodecError> {
        match self {
            Self::News { member, news } => out.write(&MoveFrame::News { to, member: *member, news: *news }),
            Self::State(moving) => {
                let Moving { record, chare, renewal, parcel, state } = &**moving;
                let renewal = renewal.as_ref().map(encode).transpose()?;
                let (record, parcel) = (record.clone(), parcel.write()?);
                out.write(&MoveFrame::State { to, record, chare: chare.id, renewal, parcel })?;
                state.encode(out)
            }
        }
    }
}

fn encode(arguments: &Arguments) -> Result<Vec<u8>, CodecError> {
    let mut bytes = Vec::new();
    arguments.encode_into(&mut bytes)?;
    Ok(bytes)
}
