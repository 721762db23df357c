//! Messages of moves: between the PE where an element lives, the element's home, and the PE to which the element goes.

use crate::model::arguments::Arguments;
use crate::model::envelope::{Body, SystemMessage};
use crate::model::ids::{ChareTypeId, CollectionId, Index, NodeId, PeId, ServiceId};
use crate::model::parcel::{Parcel, WrittenParcel};
use crate::model::registry::{ChareRegistration, IndexRegistration, MovingState};
use crate::model::topology::Topology;
use crate::model::travel::{Sought, Stay, Traveller};
use crate::pe::wishes::SEEN_TO_BY;
use chare_lrts::codec::{CodecError, Writer};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

pub(crate) const ID: ServiceId = SEEN_TO_BY;

/// An element of an array.
pub(super) type Member = (CollectionId, Index);

/// A message about a move for one PE.
pub(super) enum MoveMessage {
    News {
        member: Member,
        news: News,
    },
    /// To the PE where elements of a bond live: they may go.
    Go {
        index: Index,
        let_go: SmallVec<[LetGo; 1]>,
        to: PeId,
    },
    /// To the PE where the elements of a bond are to live.
    States(SmallVec<[Box<Moving>; 1]>),
}

/// An element that may go from a stay, and is on another one when it has arrived.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct LetGo {
    pub(super) collection: CollectionId,
    pub(super) left: Stay,
    pub(super) stay: Stay,
}

/// News of an element that moves.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum News {
    /// To the home: the element, which lives on `from`, wishes to live on `to`.
    Wish { from: PeId, stay: Stay, to: PeId },
    /// To the home: the element could not go, and is on `stay` as before.
    Stayed { from: PeId, stay: Stay },
    /// To the home: the element has come to `at`.
    Arrived { at: PeId, stay: Stay },
    /// To the home: a call has found the element that the home waits for.
    Found { sought: Sought },
}

impl MoveMessage {
    /// Finds a collection that a PE must know to do something with the message, and does not.
    pub(super) fn find_missing(&self, is_known: impl Fn(CollectionId) -> bool) -> Option<CollectionId> {
        match self {
            Self::News { member, .. } => Some(member.0).filter(|id| !is_known(*id)),
            // Those that are not here have no element here.
            Self::Go { .. } => None,
            Self::States(moving) => {
                moving.iter().map(|moving| moving.record.member.0).find(|id| !is_known(*id))
            }
        }
    }
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

impl Record {
    /// Compares what another node says of an element with what that node may say.
    ///
    /// # Errors
    /// When the element would come from elsewhere, or under another element's name, in words.
    pub(super) fn check(
        &self,
        indices: &IndexRegistration,
        topology: &Topology,
        source: NodeId,
    ) -> Result<(), String> {
        let from = topology.seat_of(self.from)?;
        if topology.node_of(from) != source {
            return Err(format!("it is said to come from {from}, which is not on {source}"));
        }
        indices.check(self.member.1, self.name.as_deref())
    }
}

/// A message about a move between nodes.
#[derive(Serialize, Deserialize)]
pub(super) enum MoveFrame {
    News {
        to: PeId,
        member: Member,
        news: News,
    },
    Go {
        to: PeId,
        index: Index,
        let_go: Vec<LetGo>,
        on: PeId,
    },
    /// So many elements follow, each with its state behind it.
    States {
        to: PeId,
        elements: u32,
    },
}

/// An element under way between nodes, but for its state.
#[derive(Serialize, Deserialize)]
pub(super) struct MovingFrame {
    pub(super) record: Record,
    pub(super) chare: ChareTypeId,
    pub(super) renewal: Option<Vec<u8>>,
    pub(super) parcel: WrittenParcel,
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
            Self::News { .. } | Self::Go { .. } => "news of an element that moves".to_owned(),
            Self::States(moving) => format!("an element of {} that moves", moving[0].chare.name),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::News { .. } | Self::Go { .. } => 0,
            Self::States(moving) => moving.iter().map(|moving| moving.state.bytes()).sum(),
        }
    }

    fn has_arguments(&self) -> bool {
        matches!(self, Self::States(_))
    }

    fn write(&self, to: PeId, out: &mut Writer<'_>) -> Result<(), CodecError> {
        match self {
            Self::News { member, news } => out.write(&MoveFrame::News { to, member: *member, news: *news }),
            Self::Go { index, let_go, to: on } => {
                out.write(&MoveFrame::Go { to, index: *index, let_go: let_go.to_vec(), on: *on })
            }
            Self::States(moving) => {
                out.write(&MoveFrame::States { to, elements: moving.len() as u32 })?;
                for moving in moving {
                    let Moving { record, chare, renewal, parcel, state } = &**moving;
                    let renewal = renewal.as_ref().map(encode).transpose()?;
                    let (record, parcel) = (record.clone(), parcel.write()?);
                    out.write(&MovingFrame { record, chare: chare.id, renewal, parcel })?;
                    state.encode(out)?;
                }
                Ok(())
            }
        }
    }
}

fn encode(arguments: &Arguments) -> Result<Vec<u8>, CodecError> {
    let mut bytes = Vec::new();
    arguments.encode_into(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::index::ArrayIndex;
    use crate::model::travel::Journey;

    /// Two nodes of two PEs, of which the second one speaks.
    fn check(
        from: u32,
        index: Index,
        name: Option<Vec<u8>>,
        indices: &IndexRegistration,
    ) -> Result<(), String> {
        let record = Record {
            member: (CollectionId { creator: PeId(0), serial: 0 }, index),
            from: PeId(from),
            traveller: Traveller::new(Journey::begin(Stay::NONE), Stay::NONE, 0),
            name: name.map(Vec::into_boxed_slice),
        };
        record.check(indices, &Topology::on_one_host(2, 2), NodeId(1))
    }

    #[test]
    fn a_state_comes_from_the_node_that_sends_it_under_its_own_name() {
        let [words, numbers] = [IndexRegistration::of::<String>(), IndexRegistration::of::<u64>()];
        let [here, other] = ["long enough to be a digest", "long enough to be another"].map(str::to_owned);
        assert_eq!(check(2, here.pack(), here.name(), &words), Ok(()));
        assert_eq!(check(3, Index::from(7_u64), None, &numbers), Ok(()));
        for (from, index, name, indices, cause) in [
            (1, here.pack(), here.name(), &words, "PE 1, which is not on node 1"),
            (4, here.pack(), here.name(), &words, "there is no PE 4: the job has 4 PEs"),
            (u32::MAX, here.pack(), here.name(), &words, "the job has 4 PEs"),
            (2, here.pack(), other.name(), &words, "is not the digest of the name that it brings"),
            (2, Index::from(7_u64), here.name(), &numbers, "is of integers, and brings a name"),
        ] {
            let refused = check(from, index, name, indices).expect_err("a node says so that may not");
            assert!(refused.contains(cause), "{refused}");
        }
    }
}
