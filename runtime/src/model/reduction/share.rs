//! Shares of a reduction: the folded contributions of one or more members, and the callback for the result.
//!
//! The rules of reductions stand in [`crate::model::reduction`], the data that fold in [`crate::model::reduction::reducers`], and the
//! counts of contributions in [`crate::model::reduction::contributions`].

use super::reducers::Data;
use crate::base::panics;
use crate::model::arguments::Arguments;
use crate::model::callback::ErasedCallback;
use serde::{Deserialize, Serialize};

/// The folded contributions of members to one of their collection's reductions, and the callback for the result.
#[derive(Serialize, Deserialize)]
pub(crate) struct Share {
    pub(crate) callback: ErasedCallback,
    pub(super) data: Data,
}

impl Share {
    /// One member's share.
    pub(crate) fn new(data: Data, callback: ErasedCallback) -> Self {
        Self { callback, data }
    }

    /// Adds another share if it is numbers or nothing, so that no value has to be moved. Returns whether it did; [`Share::absorb`] takes
    /// any share.
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
            return Err("its contributions name different callbacks".to_owned());
        }
        self.data.absorb(other.data)
    }

    /// The memory that the contributions take, in bytes, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.data.encoded_bytes()
    }

    /// The callback's argument.
    ///
    /// # Errors
    /// When a contribution refuses to be serialized, or panics, in words.
    pub(crate) fn finish(self) -> Result<Arguments, String> {
        let made = panics::catch(|| self.data.into_arguments());
        let made = made.map_err(|panic| format!("its result panicked while it was written: {panic}"))?;
        made.map_err(|error| error.to_string())
    }
}
