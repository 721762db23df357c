//! What generated proxies call: target, entry, arguments. `**proxy** -> zerocopy -> envelope -> location -> outbox`
//!
//! A handle is what a proxy is made of: small, serializable, typed by its chare.

mod collection;
mod element;
mod of_trait;
mod section;
mod this;

pub use collection::CollectionHandle;
pub use element::ElementHandle;
pub use of_trait::{TraitCollectionHandle, TraitHandle, TraitSectionHandle};
pub use section::SectionHandle;
pub use this::{ThisChare, ThisMember, this_index};

use crate::pe::Pe;
use crate::registry::{self, Chare, Constructor, registry};
use crate::zerocopy::{Few, Leaving, Outgoing, send};

/// Two handles are equal if they reach the same chares, however their calls are queued.
macro_rules! equal_by {
    ($field:ident of $handle:ident $(<$parameter:ident>)?) => {
        impl $(<$parameter>)? PartialEq for $handle $(<$parameter>)? {
            fn eq(&self, other: &Self) -> bool {
                self.$field == other.$field
            }
        }

        impl $(<$parameter>)? Eq for $handle $(<$parameter>)? {}

        impl $(<$parameter>)? std::hash::Hash for $handle $(<$parameter>)? {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                self.$field.hash(state);
            }
        }
    };
}
use equal_by;

type ConstructorArguments<C> = <<C as Chare>::Constructor as Constructor>::Arguments;

pub(crate) fn leave(nocopy: impl IntoIterator<Item = Outgoing>) -> Few<Leaving> {
    let mut leaving = Few::new();
    // Pushed one by one: collecting them would reckon with many.
    Pe::current(|pe| {
        nocopy.into_iter().for_each(|outgoing| leaving.push(send::leave(&pe.node, outgoing)));
    });
    leaving
}

/// The linked-in registration of a chare type.
///
/// # Panics
/// If the type was not registered: `#[chare]` does it.
fn registration<C: Chare>() -> &'static registry::ChareRegistration {
    let found = registry().chare(registry::type_id(C::NAME));
    found.unwrap_or_else(|| panic!("{} is not registered; is its crate linked in?", C::NAME))
}
