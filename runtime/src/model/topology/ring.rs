//! Rings: numbered places in a circle, which form a tree from any first place on, level by level.

/// Children of a place: enough for the tree to be shallow, few enough that the first place is not the bottleneck.
pub(crate) const BRANCHES: u32 = 4;

/// So many places, and the first of the tree over them.
#[derive(Clone, Copy)]
pub(super) struct Ring {
    pub(super) first: u32,
    pub(super) len: u32,
}

impl Ring {
    /// The places right below one.
    pub(super) fn below(self, at: u32) -> impl Iterator<Item = u32> {
        let Self { first, len } = self;
        let rank = u64::from((at + len - first) % len);
        (1..=u64::from(BRANCHES))
            .map(move |branch| rank * u64::from(BRANCHES) + branch)
            .filter(move |child| *child < u64::from(len))
            .map(move |child| (child as u32 + first) % len)
    }

    /// The place right above one; `None` for the first.
    pub(super) fn above(self, at: u32) -> Option<u32> {
        let Self { first, len } = self;
        let rank = (at + len - first) % len;
        (rank > 0).then(|| ((rank - 1) / BRANCHES + first) % len)
    }
}
