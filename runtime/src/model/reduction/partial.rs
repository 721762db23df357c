//! Partial reductions: combined contributions, and the name of the reduction that they belong to, as far as it is known.

use super::reducers::Data;
use super::share::Share;
use crate::model::arguments::Arguments;
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

/// A partial reduction.
#[derive(Serialize, Deserialize)]
pub(crate) struct Partial {
    pub(crate) callback: ErasedCallback,
    /// The broadcast to which the reduction belongs, as far as the contributors know.
    pub(crate) within: Option<BroadcastId>,
    /// How many contributions there are.
    pub(crate) contributed: u64,
    /// `None` from places where no member contributed.
    pub(crate) data: Option<Data>,
}

impl Partial {
    /// The partial of nobody so far.
    pub(super) fn empty(Name { callback, within }: Name) -> Self {
        Self { callback, within, contributed: 0, data: None }
    }

    pub(crate) fn name(&self) -> Name {
        Name { callback: self.callback, within: self.within }
    }

    /// Adds a partial whose name fits.
    ///
    /// # Errors
    /// When contributions do not fit together, in words.
    pub(super) fn absorb(&mut self, other: Self) -> Result<(), String> {
        // Counts that other nodes send wrap around instead of panicking.
        self.contributed = self.contributed.wrapping_add(other.contributed);
        self.within = self.within.or(other.within);
        match (&mut self.data, other.data) {
            (Some(mine), Some(theirs)) => mine.absorb(theirs),
            (none @ None, theirs) => {
                *none = theirs;
                Ok(())
            }
            (Some(_), None) => Ok(()),
        }
    }

    /// The memory that the contributions take, in bytes, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.data.as_ref().map_or(0, Data::encoded_bytes)
    }

    /// The memory that the partial takes while it waits, in bytes. Measured by its encoding, so only for partials that have to wait.
    pub(super) fn memory_bytes(&self) -> u64 {
        PLACE_BYTES + self.bytes() as u64
    }

    /// The callback's argument.
    ///
    /// # Errors
    /// When nobody contributed, or a contribution refuses to be serialized, or panics, in words.
    pub(crate) fn finish(self) -> Result<Arguments, String> {
        let data = self.data.ok_or("it is over, and nobody contributed")?;
        Share::new(data, self.callback).finish()
    }
}

/// The memory of a partial beside its contributions, in bytes: its place in a table, with room for the table to grow.
const PLACE_BYTES: u64 = 256;
