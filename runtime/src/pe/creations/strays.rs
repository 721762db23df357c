//! Strays of a PE: singletons whose home it is, and that were given to other PEs before they were created; and those of other homes that have
//! ended here.

use crate::model::ids::{ChareId, PeId};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// How many singletons that have ended here are remembered: until their homes know it, calls of them may come.
const ENDED: usize = 64;

/// The strays of one PE.
#[derive(Default)]
pub(crate) struct Strays {
    /// Where those are whose home this PE is, until it hears that they have ended.
    given: FxHashMap<ChareId, PeId>,
    /// Those that ended here last.
    ended: VecDeque<ChareId>,
}

impl Strays {
    /// The PE to which a singleton was given.
    pub(crate) fn find(&self, id: ChareId) -> Option<PeId> {
        self.given.get(&id).copied()
    }

    /// A singleton is given to a PE.
    pub(crate) fn give(&mut self, id: ChareId, to: PeId) {
        self.given.insert(id, to);
    }

    /// A singleton that was given away has ended.
    pub(crate) fn forget(&mut self, id: ChareId) {
        self.given.remove(&id);
    }

    /// A singleton that has its home elsewhere has ended here.
    pub(crate) fn note_end(&mut self, id: ChareId) {
        if self.ended.len() == ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back(id);
    }

    /// Whether a singleton that has its home elsewhere has ended here, of late.
    pub(crate) fn has_ended(&self, id: ChareId) -> bool {
        self.ended.contains(&id)
    }
}
