//! Announcements that reductions have begun: whether a node's neighbours and PEs need them, and up to which reduction they were made.

/// The announcements that a node's first PE makes for one collection.
#[derive(Default)]
pub(crate) struct Telling {
    pub(crate) is_wanted: bool,
    /// All PEs of the node and all its neighbours in the tree have been told of the reductions before this one.
    pub(crate) told: u64,
}

impl Telling {
    /// The state before any announcement.
    pub(crate) fn new(is_wanted: bool) -> Self {
        Self { is_wanted, told: 0 }
    }
}
