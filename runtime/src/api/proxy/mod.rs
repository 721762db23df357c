//! Proxies: handles that turn a target, an entry and arguments into a message; the proxies that `#[chare]` generates are made of them.
//! `**api/proxy** -> transfer -> model/envelope -> pe/places -> delivery/outbox`
//!
//! A handle is small, serializable, and typed by its chare. How a message travels, and what a PE keeps of a collection or section, never
//! stands here.

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
