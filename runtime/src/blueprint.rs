//! What is said of a collection when it is created.

use crate::callback::ErasedCallback;
use crate::ids::{ChareTypeId, CollectionId, Index};
use crate::placement::Placement;
use crate::shape::Shape;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A member of a list, and its encoding, if its index is a digest.
type Listed = (Index, Option<Box<[u8]>>);

/// The members that a collection begins with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Elements {
    Range(Arc<Shape>),
    List(Arc<[Listed]>),
}

impl Elements {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Range(shape) => shape.len(),
            Self::List(list) => list.len() as u64,
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
