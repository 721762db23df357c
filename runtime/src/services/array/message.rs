//! Messages of arrays, groups and nodegroups: creations, insertions and their end, news of where members live, and the end of a collection.

use crate::model::arguments::Arguments;
use crate::model::collection::{Blueprint, CollectionInfo};
use crate::model::envelope::{Body, SystemMessage};
use crate::model::ids::{ChareTypeId, CollectionId, Index, NodeId, PeId, ServiceId, Target};
use crate::model::parcel::{Parcel, WrittenParcel};
use crate::model::registry::ChareRegistration;
use crate::model::travel::{Sought, Stay, Traveller};
use chare_lrts::codec::{CodecError, Writer};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub(crate) const ID: ServiceId = ServiceId(8);

/// A message about a collection for one PE.
pub(super) enum ArrayMessage {
    /// Creates the collection, with the members that it begins with on this PE.
    CreateMembers {
        info: Arc<CollectionInfo>,
        arguments: Arguments,
    },
    /// To the PE that creates collections: creates the next of them there, if any waits for that.
    CreateNext,
    Insert(Insert),
    /// Nobody will insert more into the collection: for the PE where that was announced, which tells the homes.
    DoneInserting(CollectionId),
    /// Closes the insertions at a home, once `insertions` of them have come from PE `from`.
    Closing {
        collection: CollectionId,
        from: PeId,
        insertions: u64,
    },
    /// To the PE that called a member: the member lives on PE `at`.
    Located {
        target: Target,
        at: PeId,
    },
    /// To a member's home: the member lived on `from` and is gone.
    Gone {
        member: (CollectionId, Index),
        from: PeId,
        /// Where members move: the member's stay there, and how often it has contributed.
        stay: Option<(Stay, u64)>,
        parcel: Parcel,
    },
    /// To the first PE of a node: at so many homes on the node, and on nodes below, no member is left and none will come.
    HomesOver {
        collection: CollectionId,
        homes: u64,
    },
    /// That is so at all homes.
    NobodyIsLeft(CollectionId),
    /// The collection has ended.
    Ended(CollectionId),
}

/// The insertion of a member, on its way.
pub(crate) struct Insert {
    pub(crate) order: InsertionOrder,
    pub(crate) chare: &'static ChareRegistration,
    pub(crate) arguments: Arguments,
}

/// The subject of an insertion: the member, the PE where it is to live, and the stage.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct InsertionOrder {
    pub(crate) collection: CollectionId,
    pub(crate) index: Index,
    /// The index's encoding, if its bits are a digest.
    pub(crate) name: Option<Box<[u8]>>,
    /// The PE where the member is to live, if not where its home decides.
    pub(crate) on: Option<PeId>,
    /// The PE that asked.
    pub(crate) from: PeId,
    pub(crate) stage: Stage,
    /// Where members move: what the home has sent the insertion in search of.
    pub(crate) sought: Option<Sought>,
    /// Where members move: the journey that the member begins, if it is to live elsewhere than at home.
    pub(crate) traveller: Option<Traveller>,
}

impl InsertionOrder {
    /// An order of PE `from`, for a member on PE `on` or where its home decides.
    pub(super) fn new(
        (collection, index): (CollectionId, Index),
        name: Option<Box<[u8]>>,
        (from, on): (PeId, Option<PeId>),
        stage: Stage,
    ) -> Self {
        Self { collection, index, name, on, from, stage, sought: None, traveller: None }
    }
}

/// The stage of an insertion; see `insertion`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// On the PE that asks.
    Leaving,
    /// At the home, which decides.
    Asking,
    /// On the PE where such a member lived last, as far as the home knows.
    Contested,
    /// Back at the home: the member lives there no more.
    Cleared,
    /// On the PE where the member is to live.
    Granted,
}

/// A message about a collection between nodes.
#[derive(Serialize, Deserialize)]
pub(super) enum ArrayFrame {
    /// For one PE. The constructor's arguments follow.
    Insert { to: PeId, order: InsertionOrder, chare: ChareTypeId },
    /// For one PE.
    Located { to: PeId, target: Target, at: PeId },
    /// For one PE.
    Gone {
        to: PeId,
        member: (CollectionId, Index),
        from: PeId,
        stay: Option<(Stay, u64)>,
        parcel: WrittenParcel,
    },
    /// For all nodes, down the tree below `root`. The constructor's arguments follow.
    Members { root: NodeId, blueprint: Box<Blueprint> },
    /// For all nodes, down the tree below `root`: PE `from` will insert no more, and has asked these homes for so many insertions each.
    Closing { root: NodeId, collection: CollectionId, from: PeId, insertions: Vec<(PeId, u64)> },
    /// For one PE.
    HomesOver { to: PeId, collection: CollectionId, homes: u64 },
    /// For all nodes, down the tree below the collection's root.
    NobodyIsLeft { collection: CollectionId },
    /// For all nodes, down the tree below the collection's root.
    Ended { collection: CollectionId },
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
            Self::CreateNext => "creating a collection".to_owned(),
            Self::Insert(insert) => format!("inserting a member of {}", insert.chare.name),
            Self::DoneInserting(_) | Self::Closing { .. } => "the end of insertions".to_owned(),
            Self::Located { .. } | Self::Gone { .. } => "news of a member".to_owned(),
            Self::HomesOver { .. } | Self::NobodyIsLeft(_) | Self::Ended(_) => {
                "the end of a collection".to_owned()
            }
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
            Self::Gone { member, from, stay, parcel } => {
                let parcel = parcel.write()?;
                out.write(&ArrayFrame::Gone { to, member: *member, from: *from, stay: *stay, parcel })
            }
            Self::HomesOver { collection, homes } => {
                out.write(&ArrayFrame::HomesOver { to, collection: *collection, homes: *homes })
            }
            Self::CreateNext => unreachable!("it stays on its PE"),
            Self::CreateMembers { .. }
            | Self::DoneInserting(_)
            | Self::Closing { .. }
            | Self::NobodyIsLeft(_)
            | Self::Ended(_) => {
                unreachable!("all nodes are told, and tell their PEs")
            }
        }
    }
}
