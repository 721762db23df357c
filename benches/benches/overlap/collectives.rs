//! Collectives: which of them an operation makes, and among how many.

/// Members of a collective.
pub(crate) const MEMBERS: usize = 2;

/// What an operation does beside computing.
#[derive(Clone, Copy)]
pub(crate) struct Collectives {
    /// One buffer is copied to each member.
    pub(crate) broadcasts: bool,
    /// A buffer of each member is copied to its part of one.
    pub(crate) gathers: bool,
}
