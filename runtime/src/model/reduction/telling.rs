//! News that reductions have begun: who has to be told, and of which reductions everyone was.

/// What a node's first PE knows of who has to be told that reductions have begun.
#[derive(Default)]
pub(crate) struct Telling {
    pub(crate) is_wanted: bool,
    /// Everyone has been told of the reductions before this one.
    pub(crate) told: u64,
}

impl Telling {
    /// What is known at the beginning.
    pub(crate) fn new(is_wanted: bool) -> Self {
        Self { is_wanted, told: 0 }
    }
}
