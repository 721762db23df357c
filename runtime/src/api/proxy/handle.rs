//! Parts that all handles share: arguments taken in, registrations looked up, equality.

use crate::model::dealing::Dealing;
use crate::model::nocopy::{Few, Local, Outgoing};
use crate::model::registry::{self, Chare, Constructor, registry};
use crate::pe::Pe;
use crate::transfer::{device, lend::send};
use std::sync::Arc;

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
pub(super) use equal_by;

/// The arguments of a chare's constructor.
pub(super) type ConstructorArguments<C> = <<C as Chare>::Constructor as Constructor>::Arguments;

/// Takes charge of the nocopy arguments that the caller gave to one chare.
///
/// # Panics
/// If one is dealt out.
pub(super) fn take_charge(nocopy: impl IntoIterator<Item = Outgoing>) -> Few<Local> {
    let mut leaving = Few::new();
    // Pushed one by one: `collect` would reckon with many.
    Pe::current(|pe| {
        for outgoing in nocopy {
            leaving.push(match outgoing {
                Outgoing::Host(outgoing) => {
                    assert!(
                        outgoing.dealt.is_none(),
                        "`SendBuffer::each` deals a buffer out to many: `SendBuffer::only` sends one chare its part"
                    );
                    Local::Host(send::take_charge(&pe.node, outgoing))
                }
                Outgoing::Device(outgoing) => Local::Device(device::take_charge(&pe.node, outgoing)),
            });
        }
    });
    leaving
}

/// The nocopy arguments of a call of many, and how they are dealt out.
#[derive(Default)]
pub(super) struct ForMany {
    pub(super) nocopy: Vec<Local>,
    pub(super) dealt: Option<Arc<[Option<Dealing>]>>,
}

/// Takes charge of the nocopy arguments that go to many.
pub(super) fn take_charge_for_many(nocopy: impl IntoIterator<Item = Outgoing>) -> ForMany {
    let (mut leaving, mut dealt) = (Vec::new(), Few::new());
    Pe::current(|pe| {
        for outgoing in nocopy {
            let (local, dealing) = match outgoing {
                Outgoing::Host(mut outgoing) => {
                    let dealing = outgoing.dealt.take().map(Dealing::from);
                    (Local::Host(send::take_charge(&pe.node, outgoing)), dealing)
                }
                Outgoing::Device(outgoing) => (Local::Device(device::take_charge(&pe.node, outgoing)), None),
            };
            leaving.push(local);
            dealt.push(dealing);
        }
    });
    let dealt = dealt.iter().any(Option::is_some).then(|| dealt.into_iter().collect());
    ForMany { nocopy: leaving, dealt }
}

/// The linked-in registration of a chare type.
///
/// # Panics
/// If the type was not registered: `#[chare]` does it.
pub(super) fn registration<C: Chare>() -> &'static registry::ChareRegistration {
    let found = registry().chare(registry::type_id(C::NAME));
    found.unwrap_or_else(|| panic!("{} is not registered; is its crate linked in?", C::NAME))
}
