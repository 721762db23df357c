//! What has come together of a reduction at one place of the tree, and how many PEs and members it stands for.

use crate::ids::CollectionId;
use crate::reduction::Share;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::hash_map::Entry;

/// Instead of a reduction's number: the elements that a collection begins with exist.
pub(crate) const CREATION: u64 = u64::MAX;

/// What is counted of a reduction; see [`crate::contributions`].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// PEs that have closed it.
    pub(crate) closed: u64,
    /// Contributions.
    pub(crate) contributed: u64,
    /// Contributions that those PEs expect in all.
    pub(crate) expected: i64,
}

/// A part of a reduction.
#[derive(Serialize, Deserialize)]
pub(crate) struct Partial {
    /// Which reduction of its collection.
    pub(crate) number: u64,
    pub(crate) tally: Tally,
    /// Nothing from PEs where nobody contributed.
    pub(crate) share: Option<Share>,
}

impl Partial {
    fn absorb(&mut self, other: Self) -> Result<(), String> {
        let Tally { closed, contributed, expected } = &mut self.tally;
        // What other nodes say wraps around instead of panicking.
        *closed = closed.wrapping_add(other.tally.closed);
        *contributed = contributed.wrapping_add(other.tally.contributed);
        *expected = expected.wrapping_add(other.tally.expected);
        match (&mut self.share, other.share) {
            (Some(mine), Some(theirs)) => mine.absorb(theirs)?,
            (none @ None, theirs) => *none = theirs,
            (Some(_), None) => {}
        }
        Ok(())
    }

    /// About how much memory its contributions take.
    pub(crate) fn bytes(&self) -> usize {
        self.share.as_ref().map_or(0, Share::bytes)
    }
}

/// The partials that wait for more, at one place of the tree.
#[derive(Default)]
pub(crate) struct Partials(FxHashMap<(CollectionId, u64), Partial>);

impl Partials {
    /// Adds a partial; returns what has come together once that is whole.
    ///
    /// # Errors
    /// When contributions do not fit together, in words.
    pub(crate) fn add(
        &mut self,
        collection: CollectionId,
        partial: Partial,
        is_whole: impl Fn(Tally) -> bool,
    ) -> Result<Option<Partial>, String> {
        match self.0.entry((collection, partial.number)) {
            Entry::Vacant(_) if is_whole(partial.tally) => Ok(Some(partial)),
            Entry::Vacant(entry) => {
                entry.insert(partial);
                Ok(None)
            }
            Entry::Occupied(mut entry) => {
                entry.get_mut().absorb(partial)?;
                Ok(is_whole(entry.get().tally).then(|| entry.remove()))
            }
        }
    }

    /// The first reduction of a collection behind all that wait here.
    pub(crate) fn end(&self, collection: CollectionId) -> u64 {
        let numbers = self.0.keys().filter(|(of, _)| *of == collection).map(|(_, number)| *number);
        numbers.filter(|number| *number != CREATION).max().map_or(0, |last| last + 1)
    }
}
