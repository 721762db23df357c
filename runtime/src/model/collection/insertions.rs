//! Counts of insertions: those that a PE has asked homes for, those that it was asked for, and the last ones.

use crate::model::ids::PeId;
use rustc_hash::FxHashMap;

/// What a PE counts of a collection's insertions.
pub(crate) struct Insertions {
    /// Those that it has asked homes for.
    pub(crate) asked: FxHashMap<PeId, u64>,
    /// Those that it was asked for as a home.
    pub(crate) heard: FxHashMap<PeId, u64>,
    /// The PE whose insertions are the last ones, and how many they are.
    pub(crate) last: Option<(PeId, u64)>,
    /// Whether this PE has said that nobody will ask for more.
    pub(crate) is_done: bool,
    is_open: bool,
}

impl Insertions {
    pub(crate) fn new(is_open: bool) -> Self {
        Self { asked: FxHashMap::default(), heard: FxHashMap::default(), last: None, is_done: false, is_open }
    }

    /// Whether members may still come.
    pub(crate) fn are_expected(&self) -> bool {
        self.is_open
            && self.last.is_none_or(|(from, count)| self.heard.get(&from).copied().unwrap_or(0) < count)
    }
}
