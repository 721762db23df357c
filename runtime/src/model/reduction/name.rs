//! Names of reductions: the callback, and the broadcast to which the reduction belongs, as far as it is known.

use crate::model::callback::ErasedCallback;
use crate::model::ids::BroadcastId;
use serde::{Deserialize, Serialize};

/// The name of a reduction at one place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Name {
    pub(crate) callback: ErasedCallback,
    /// `None` if no broadcast is known.
    pub(crate) within: Option<BroadcastId>,
}

impl Name {
    /// Whether both may be names of one reduction.
    #[inline]
    pub(super) fn fits(&self, other: &Self) -> bool {
        let is_alike = match (self.within, other.within) {
            (Some(mine), Some(theirs)) => mine == theirs,
            _ => true,
        };
        is_alike && self.callback == other.callback
    }
}
