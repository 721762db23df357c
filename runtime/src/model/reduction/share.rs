//! Reductions: every member of a collection contributes once, one callback receives the result.
//!
//! 1. A member's n-th contribution belongs to the collection's n-th reduction; several may be under way.
//! 2. A PE folds what its members contribute (see [`crate::model::reduction::contributions`]); its partial goes to the node's first PE, and from there up
//!    a tree of nodes, whose root calls back (see [`crate::services::reduction`]).
//! 3. Inside a process values are folded as they are; only what crosses to another node is encoded.
//!
//! This file is what one or more members contributed; what folds stands in [`crate::model::reduction::reducers`].

use super::reducers::Data;
use crate::model::arguments::Arguments;
use crate::model::callback::ErasedCallback;
use serde::{Deserialize, Serialize};

/// What members of a collection have contributed to one of its reductions, and what becomes of it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Share {
    pub(crate) callback: ErasedCallback,
    data: Data,
}

impl Share {
    /// One member's share.
    pub(crate) fn new(data: Data, callback: ErasedCallback) -> Self {
        Self { callback, data }
    }

    /// The share of one of whom nothing but presence is asked.
    pub(crate) fn presence(callback: ErasedCallback) -> Self {
        Self::new(Data::Nothing, callback)
    }

    /// Adds another share of which nothing has to be moved: no more than numbers. Returns whether it did; [`Share::absorb`] takes any.
    #[inline]
    pub(crate) fn join(&mut self, data: &Data, callback: &ErasedCallback) -> bool {
        self.callback == *callback && self.data.join(data)
    }

    /// Adds another share.
    ///
    /// # Errors
    /// When the two do not fit together, in words.
    pub(crate) fn absorb(&mut self, other: Self) -> Result<(), String> {
        if self.callback != other.callback {
            return Err("its members name different callbacks: a member's n-th contribution belongs to the n-th reduction, so let all contribute in the same order".to_owned());
        }
        self.data.absorb(other.data)
    }

    /// About how much memory its contributions take.
    pub(crate) fn bytes(&self) -> usize {
        self.data.encoded_bytes()
    }

    /// The callback's argument.
    ///
    /// # Errors
    /// When a contribution refuses to be serialized, in words.
    pub(crate) fn finish(self) -> Result<Arguments, String> {
        self.data.into_arguments().map_err(|error| error.to_string())
    }
}
