//! Insertion counts of a PE: insertions that it asked homes for, insertions that it was asked for as a home, and the last ones.

use crate::model::ids::PeId;
use rustc_hash::FxHashMap;

/// One collection's insertions as a PE counts them.
pub(crate) struct Insertions {
    /// Insertions that this PE asked for, by the home.
    pub(crate) asked: FxHashMap<PeId, u64>,
    /// Insertions that this PE was asked for as a home, by the PE that asked.
    pub(crate) heard: FxHashMap<PeId, u64>,
    /// The PE whose insertions are the last ones, and how many they are.
    pub(crate) last: Option<(PeId, u64)>,
    /// Whether this PE has said that no PE will ask for more insertions.
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
