//! Messages of arrays, groups and nodegroups: creations, insertions, their end, and news of where members live.

use crate::model::arguments::Arguments;
use crate::model::collection::{Blueprint, CollectionInfo};
use crate::model::envelope::{Body, SystemMessage};
use crate::model::ids::{ChareTypeId, CollectionId, Index, NodeId, PeId, ServiceId, Target};
use crate::model::parcel::Parcel;
use crate::model::registry::ChareRegistration;
use chare_lrts::codec::{CodecError, Writer};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub(crate) const ID: ServiceId = ServiceId(7);

/// What one PE is told of a collection.
pub(super) enum ArrayMessage {
    /// The collection comes, with the members that it begins with there.
    CreateMembers {
        info: Arc<CollectionInfo>,
        arguments: Arguments,
    },
    Insert(Insert),
    /// Nobody will insert more into the collection: from the PE that was told so, to all.
    DoneInserting(CollectionId),
    /// The same at the homes, once `insertions` have come from PE `from`.
    Closing {
        collection: CollectionId,
        from: PeId,
        insertions: u64,
    },
    /// To whoever called a member: it lives there.
    Located {
        target: Target,
        at: PeId,
    },
    /// To a member's home: it lived on `from` and is gone.
    Gone {
        member: (CollectionId, Index),
        from: PeId,
        parcel: Parcel,
    },
}

/// The insertion of a member, on its way.
pub(crate) struct Insert {
    pub(crate) order: InsertionOrder,
    pub(crate) chare: &'static ChareRegistration,
    pub(crate) arguments: Arguments,
}

/// What an insertion is about.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct InsertionOrder {
    pub(crate) collection: CollectionId,
    pub(crate) index: Index,
    /// The index's encoding, if its bits are a digest.
    pub(crate) name: Option<Box<[u8]>>,
    /// Where the member is to live, if not where its home says.
    pub(crate) on: Option<PeId>,
    /// The PE that asked.
    pub(crate) from: PeId,
    pub(crate) stage: Stage,
}

/// How far an insertion has come; see `insertion`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// On the PE that asks.
    Leaving,
    /// At the home, which decides.
    Asking,
    /// On the PE where such a member lived last, as far as the home knows.
    Contested,
    /// Back at the home: it lives there no more.
    Cleared,
    /// On the PE where it is to live.
    Granted,
    /// To the home: a call needs it, which carries no more than a digest of its index.
    Needed,
}

/// What nodes tell each other of collections.
#[derive(Serialize, Deserialize)]
pub(super) enum ArrayFrame {
    /// For one PE. The constructor's arguments follow.
    Insert { to: PeId, order: InsertionOrder, chare: ChareTypeId },
    /// For one PE.
    Located { to: PeId, target: Target, at: PeId },
    /// For one PE.
    Gone { to: PeId, member: (CollectionId, Index), from: PeId, parcel: Parcel },
    /// For all nodes, down the tree below `root`. The constructor's arguments follow.
    Members { root: NodeId, blueprint: Box<Blueprint> },
    /// For all nodes, down the tree below `root`: PE `from` will insert no more, and has asked so many homes for so many insertions.
    Closing { root: NodeId, collection: CollectionId, from: PeId, insertions: Vec<(PeId, u64)> },
}

impl From<ArrayMessage> for Body {
    fn from(message: ArrayMessage) -> Self {
        Self::System(Box::new(message))
    }
}

impl SystemMessage for ArrayMessage {
    fn service(&self) -> ServiceId {
        ID
    }

    fn describe(&self) -> String {
        match self {
            Self::CreateMembers { info, .. } => format!("creating {}", info.chare.name),
            Self::Insert(insert) => format!("inserting a member of {}", insert.chare.name),
            Self::DoneInserting(_) | Self::Closing { .. } => "the end of insertions".to_owned(),
            Self::Located { .. } | Self::Gone { .. } => "news of a member".to_owned(),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Insert(insert) => insert.arguments.encoded_bytes(),
            _ => 0,
        }
    }

    fn has_arguments(&self) -> bool {
        matches!(self, Self::Insert(_))
    }

    fn write(&self, to: PeId, out: &mut Writer<'_>) -> Result<(), CodecError> {
        match self {
            Self::Insert(Insert { order, chare, arguments }) => {
                out.write(&ArrayFrame::Insert { to, order: order.clone(), chare: chare.id })?;
                arguments.encode(out)
            }
            Self::Located { target, at } => out.write(&ArrayFrame::Located { to, target: *target, at: *at }),
            Self::Gone { member, from, parcel } => {
                out.write(&ArrayFrame::Gone { to, member: *member, from: *from, parcel: parcel.clone() })
            }
            Self::CreateMembers { .. } | Self::DoneInserting(_) | Self::Closing { .. } => {
                unreachable!("all nodes are told, and tell their PEs")
            }
        }
    }
}
