//! What is said of a collection when it is created.

use super::placement::Placement;
use crate::model::callback::ErasedCallback;
use crate::model::ids::{ChareTypeId, CollectionId, Index};
use crate::model::index_range::IndexRange;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A member of a list, and its encoding, if its index is a digest.
type Listed = (Index, Option<Box<[u8]>>);

/// The members that a collection begins with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Elements {
    Range(Arc<IndexRange>),
    List(Arc<[Listed]>),
}

impl Elements {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Range(range) => range.len(),
            Self::List(list) => list.len() as u64,
        }
    }

    /// The range, if they are one.
    pub(crate) fn range(&self) -> Option<&Arc<IndexRange>> {
        match self {
            Self::Range(range) => Some(range),
            Self::List(_) => None,
        }
    }
}

/// See the file's head.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Blueprint {
    pub(crate) id: CollectionId,
    pub(crate) chare: ChareTypeId,
    pub(crate) elements: Elements,
    pub(crate) placement: Placement,
    /// Whether elements may be inserted.
    pub(crate) is_open: bool,
    /// Who wants to know when all elements exist.
    pub(crate) created: Option<ErasedCallback>,
    /// On each PE, its members are constructed after those of this collection.
    pub(crate) after: Option<CollectionId>,
}
