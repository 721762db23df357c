//! Insertion counts of a PE: insertions that it asked homes for, insertions that it was asked for as a home, and the last ones; and the
//! members of a home, until none is left and none can come.

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
    /// How many members have their home here and live, or are being inserted, anywhere.
    pub(crate) living: u64,
    /// At the first PE of a node: how many homes on the node, and on the nodes below, are [over](Self::are_over).
    pub(crate) homes_over: u64,
    has_said_over: bool,
    is_open: bool,
}

impl Insertions {
    /// Those of an array that is open or not, and begins with so many members that have their home here.
    pub(crate) fn new(is_open: bool, living: u64) -> Self {
        Self {
            asked: FxHashMap::default(),
            heard: FxHashMap::default(),
            last: None,
            is_done: false,
            living,
            homes_over: 0,
            has_said_over: false,
            is_open,
        }
    }

    /// Whether an array was open, and no member is left that has its home here, and none can come: true once, for the home to say it.
    pub(crate) fn are_over(&mut self) -> bool {
        let are_over = self.is_open && !self.are_expected() && self.living == 0 && !self.has_said_over;
        self.has_said_over |= are_over;
        are_over
    }

    /// Whether members may still come.
    pub(crate) fn are_expected(&self) -> bool {
        self.is_open
            && self.last.is_none_or(|(from, count)| self.heard.get(&from).copied().unwrap_or(0) < count)
    }
}
