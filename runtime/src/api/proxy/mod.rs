//! Proxies: what generated ones call, with a target, an entry and arguments. `**proxy** -> zerocopy -> envelope -> location -> outbox`
//!
//! A handle is what a proxy is made of: small, serializable, typed by its chare.

mod collection;
mod element;
mod handle;
mod of_trait;
mod section;
mod this;

pub use collection::CollectionHandle;
pub use element::ElementHandle;
pub use of_trait::{TraitCollectionHandle, TraitHandle, TraitSectionHandle};
pub use section::SectionHandle;
pub use this::{ThisChare, ThisMember, this_index};
