//! Reductions: every member of a collection contributes once, one callback receives the result.
//!
//! 1. A member's n-th contribution belongs to the collection's n-th reduction; several may be under way.
//! 2. A PE folds what its members contribute; when all of them have, the partial goes to the node's first PE; when that
//!    has all of its node and of the nodes below it in the tree, it goes to the node above; the root calls back.
//! 3. Who is expected where follows from the placement, so nobody asks who is finished.
//! 4. Inside a process values are folded as they are; only a partial that crosses to another node is encoded.
//!
//! This file is the bookkeeping; what folds stands in [`crate::reducers`], sending in [`crate::dispatch`].

use crate::callback::ErasedCallback;
use crate::ids::{CollectionId, Index};
use crate::message::Arguments;
use crate::reducers::{Contribution, Data};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// What some members of a collection have contributed to one of its reductions.
#[derive(Serialize, Deserialize)]
pub(crate) struct Partial {
    pub(crate) collection: CollectionId,
    /// Which reduction of the collection.
    pub(crate) number: u64,
    /// How many members it stands for.
    pub(crate) members: u64,
    pub(crate) callback: ErasedCallback,
    data: Data,
}

impl Partial {
    pub(crate) fn of_member<T>(
        (collection, index): (CollectionId, Index),
        number: u64,
        contribution: Contribution<T>,
        callback: ErasedCallback,
    ) -> Self {
        Self { collection, number, members: 1, callback, data: contribution.of_member(index) }
    }

    fn absorb(&mut self, other: Self) -> Result<(), String> {
        self.members += other.members;
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

/// The partials that wait for more, at one place of the tree.
#[derive(Default)]
pub(crate) struct Partials(FxHashMap<(CollectionId, u64), Partial>);

impl Partials {
    /// Adds a partial; returns the whole once `expected` members are in it.
    ///
    /// # Errors
    /// When contributions do not fit together.
    pub(crate) fn add(&mut self, partial: Partial, expected: u64) -> Result<Option<Partial>, String> {
        use std::collections::hash_map::Entry;
        let whole = match self.0.entry((partial.collection, partial.number)) {
            Entry::Vacant(_) if partial.members == expected => return Ok(Some(partial)),
            Entry::Vacant(entry) => {
                entry.insert(partial);
                return Ok(None);
            }
            Entry::Occupied(mut entry) => {
                entry.get_mut().absorb(partial)?;
                if entry.get().members < expected {
                    return Ok(None);
                }
                entry.remove()
            }
        };
        if whole.members > expected {
            return Err(format!("{} contributions where {expected} members are", whole.members));
        }
        Ok(Some(whole))
    }
}
