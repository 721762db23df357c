//! Kinds of nocopy parameters.

/// Which way a nocopy parameter receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NocopyKind {
    /// `#[nocopy]`: the runtime provides the memory.
    Received,
    /// `#[nocopy(post)]`: the post method does.
    Posted,
}
