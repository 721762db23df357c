//! Parts of a buffer: selections that share no element, sent and filled independently of each other.
//!
//! 1. [`BufferMut::split`](super::BufferMut::split) checks once that no two parts share a byte. From then on there is one handle for each part,
//!    and [`Rest`] for what no part selects; nobody has the whole.
//! 2. A [`PartMut`] is exclusive: transfers fill its elements, or its holder does. A [`Part`] is shared: transfers and holders read its
//!    elements, and nobody writes them.
//! 3. Whoever shows all parts may look at the whole: while they are borrowed, no transfer writes.

mod part;
mod rest;
mod split;
mod whole;

pub use part::{Part, PartLayout, PartMut, SendPart};
pub use rest::{NotJoined, Rest, Shown};
pub use split::{NotSplit, Split, SplitAll};
