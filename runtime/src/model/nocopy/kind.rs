//! Kinds of nocopy parameters: the runtime or a post method provides the memory.

/// The way in which a nocopy parameter receives its elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NocopyKind {
    /// `#[nocopy]` of a `Received`: the runtime provides the memory, in which the elements stand side by side.
    Received,
    /// `#[nocopy]` of a `ReceivedView`: the memory is the sender's, where it can be reached.
    Viewed,
    /// `#[nocopy(post)]`: the post method provides the memory.
    Posted,
}
