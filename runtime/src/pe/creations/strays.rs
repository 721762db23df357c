//! Strays of a PE: singletons whose home it is, and that were given to another PE before they were created.

use crate::model::ids::{ChareId, PeId};
use rustc_hash::FxHashMap;

/// A singleton that was given away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stray {
    /// It is not created yet, as far as its home knows.
    UnderWay,
    /// It was created on that PE.
    On(PeId),
}

/// The strays of one PE that have not ended, as far as it knows.
#[derive(Default)]
pub(crate) struct Strays(FxHashMap<ChareId, Stray>);

impl Strays {
    pub(crate) fn find(&self, id: ChareId) -> Option<Stray> {
        self.0.get(&id).copied()
    }

    /// A singleton is given away.
    pub(crate) fn add(&mut self, id: ChareId) {
        self.0.insert(id, Stray::UnderWay);
    }

    /// A stray was created. Returns whether it has not ended: that news may have come before.
    pub(crate) fn root(&mut self, id: ChareId, on: PeId) -> bool {
        self.0.get_mut(&id).map(|stray| *stray = Stray::On(on)).is_some()
    }

    /// A stray has ended.
    pub(crate) fn remove(&mut self, id: ChareId) {
        self.0.remove(&id);
    }
}
