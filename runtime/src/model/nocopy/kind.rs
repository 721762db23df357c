//! Kinds of nocopy parameters: the runtime or a post method provides the memory.

/// The way in which a nocopy parameter receives its elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NocopyKind {
    /// `#[nocopy]`: the runtime provides the memory.
    Received,
    /// `#[nocopy(post)]`: the post method provides the memory.
    Posted,
}
