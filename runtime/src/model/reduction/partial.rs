//! Partial reductions: combined contributions and how many PEs and members they stand for.

use crate::base::allowance::{Allowance, Purpose};
use crate::model::ids::{BroadcastId, CollectionId};
use crate::model::reduction::Share;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::hash_map::Entry;

/// The number, in place of a reduction's, for the news that the elements with which a collection begins exist.
pub(crate) const CREATION: u64 = u64::MAX;

/// The counts of a partial reduction; see [`crate::model::reduction::contributions`].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// PEs that have closed the reduction.
    pub(crate) closed: u64,
    /// Contributions.
    pub(crate) contributed: u64,
    /// Contributions that those PEs expect in all.
    pub(crate) expected: i64,
}

/// A partial reduction: a share and its counts.
#[derive(Serialize, Deserialize)]
pub(crate) struct Partial {
    /// The number of the reduction in its collection.
    pub(crate) number: u64,
    pub(crate) tally: Tally,
    /// The broadcast to which the reduction belongs, as far as the contributors know.
    pub(crate) within: Option<BroadcastId>,
    /// `None` from PEs where no member contributed.
    pub(crate) share: Option<Share>,
}

impl Tally {
    /// The sum of both tallies. Counts that other nodes send wrap around instead of panicking.
    fn and(self, other: Self) -> Self {
        Self {
            closed: self.closed.wrapping_add(other.closed),
            contributed: self.contributed.wrapping_add(other.contributed),
            expected: self.expected.wrapping_add(other.expected),
        }
    }
}

impl Partial {
    /// Whether the partial is of a numbered reduction, not of the creation of members.
    pub(crate) fn is_numbered(&self) -> bool {
        self.number != CREATION
    }

    fn absorb(&mut self, other: Self) -> Result<(), String> {
        self.tally = self.tally.and(other.tally);
        self.within = self.within.or(other.within);
        match (&mut self.share, other.share) {
            (Some(mine), Some(theirs)) => mine.absorb(theirs)?,
            (none @ None, theirs) => *none = theirs,
            (Some(_), None) => {}
        }
        Ok(())
    }

    /// The memory that the contributions take, in bytes, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.share.as_ref().map_or(0, Share::bytes)
    }

    /// The memory that the partial takes while it waits, in bytes. Measured by its encoding, so only for partials that have to wait.
    fn memory_bytes(&self) -> u64 {
        PLACE_BYTES + self.bytes() as u64
    }
}

/// The memory of a partial beside its contributions, in bytes: its place in the table, with room for the table to grow.
const PLACE_BYTES: u64 = 256;

/// The partials that wait for more contributions, at one place of the tree.
#[derive(Default)]
pub(crate) struct Partials {
    /// The combined partial of each reduction, and the memory in bytes that the partials combined in it take.
    waiting: FxHashMap<(CollectionId, u64), (Partial, u64)>,
}

impl Partials {
    /// Adds a partial; returns the combined partial of its reduction once that is whole. What waits takes of the node's allowance.
    ///
    /// # Errors
    /// When contributions do not fit together, or there is no room for them, in words.
    pub(crate) fn add(
        &mut self,
        collection: CollectionId,
        partial: Partial,
        allowance: &Allowance,
        is_whole: impl Fn(Tally) -> bool,
    ) -> Result<Option<Partial>, String> {
        let begun = self.waiting.len();
        let take = |bytes| {
            allowance.take(Purpose::Partials, bytes).map_err(|used_up| {
                format!(
                    "{begun} reductions have begun that are not over, and {used_up}; make sure that no member is so far ahead of the \
                     others"
                )
            })
        };
        match self.waiting.entry((collection, partial.number)) {
            Entry::Vacant(_) if is_whole(partial.tally) => return Ok(Some(partial)),
            Entry::Occupied(mut entry) if is_whole(entry.get().0.tally.and(partial.tally)) => {
                entry.get_mut().0.absorb(partial)?;
                let (whole, bytes) = entry.remove();
                allowance.give_back(Purpose::Partials, bytes);
                return Ok(Some(whole));
            }
            Entry::Vacant(entry) => {
                let bytes = partial.memory_bytes();
                take(bytes)?;
                entry.insert((partial, bytes));
            }
            Entry::Occupied(mut entry) => {
                let (together, bytes) = entry.get_mut();
                let more = partial.memory_bytes();
                take(more)?;
                together.absorb(partial)?;
                *bytes += more;
            }
        }
        Ok(None)
    }

    /// The partials that wait: the collection of each, and the partial.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (CollectionId, &Partial)> {
        self.waiting.iter().map(|((collection, _), (partial, _))| (*collection, partial))
    }

    /// The number of a collection's first reduction behind all that wait here.
    pub(crate) fn end(&self, collection: CollectionId) -> u64 {
        let numbers = self.waiting.keys().filter(|(of, _)| *of == collection).map(|(_, number)| *number);
        numbers.filter(|number| *number != CREATION).max().map_or(0, |last| last + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::callback::Callback;
    use crate::model::ids::{Index, PeId};
    use crate::model::reduction::reducers::sum;

    fn partial(number: u64) -> Partial {
        let share = Share::new(sum(7_u64).of_member(Index::from(0), || 0), Callback::<u64>::ignore().erase());
        let tally = Tally { closed: 1, contributed: 1, expected: 1 };
        Partial { number, tally, within: None, share: Some(share) }
    }

    #[test]
    fn the_last_byte_of_room_is_used_and_no_more() {
        let collection = CollectionId { creator: PeId(0), serial: 3 };
        let each = partial(0).memory_bytes();
        // A sixteenth of the allowance is in reserve for each of the four other purposes.
        let (mut partials, allowance) = (Partials::default(), Allowance::new(3 * each * 16 / 12));
        let mut add =
            |number| partials.add(collection, partial(number), &allowance, |tally| tally.closed == 2);
        for number in [0, 1, 2] {
            assert!(matches!(add(number), Ok(None)));
        }
        assert!(matches!(add(1), Ok(Some(_))), "it is whole, and takes no room any more");
        assert!(matches!(add(3), Ok(None)));
        let refusal = add(4).err().expect("there is no room");
        assert!(refusal.contains("3 reductions"), "{refusal}");
    }
}
