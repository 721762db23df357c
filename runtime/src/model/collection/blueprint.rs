//! Blueprints of collections: id, chare type, first members and placement, fixed when a collection is created.

use super::placement::Placement;
use crate::model::callback::ErasedCallback;
use crate::model::ids::{ChareTypeId, CollectionId, Index};
use crate::model::index_range::IndexRange;
use crate::model::registry::IndexRegistration;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The index of a listed member and, if the index is a digest, its encoding.
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

    /// Looks at the indices of members that another node lists.
    ///
    /// # Errors
    /// The first that is no index of the type, or not the one of its name, in words.
    pub(crate) fn check(&self, indices: &IndexRegistration) -> Result<(), String> {
        match self {
            Self::Range(_) => Ok(()),
            Self::List(list) => {
                list.iter().try_for_each(|(index, name)| indices.check(*index, name.as_deref()))
            }
        }
    }

    /// The range, if the members are one.
    pub(crate) fn range(&self) -> Option<&Arc<IndexRange>> {
        match self {
            Self::Range(range) => Some(range),
            Self::List(_) => None,
        }
    }
}

/// The description of a collection that every process gets when it is created.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Blueprint {
    pub(crate) id: CollectionId,
    pub(crate) chare: ChareTypeId,
    pub(crate) elements: Elements,
    pub(crate) placement: Placement,
    /// Whether elements may be inserted.
    pub(crate) is_open: bool,
    /// The callback that is called when all elements exist.
    pub(crate) created: Option<ErasedCallback>,
    /// The collection whose members are constructed before this one's on each PE.
    pub(crate) after: Option<CollectionId>,
}
