//! Dispatch of a trait's entries: registered like any entry, and run as the method of the chare's type.

use super::entry_trait::{EntryTrait, TraitEntry};
use super::identity::AnyChare;
use super::name::type_id;
use super::registration::{Called, EntryRegistration, NotCalled};
use super::types::registry;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::ids::EntryId;
use crate::model::nocopy::NocopyArguments;
use std::rc::Rc;

impl EntryRegistration {
    /// The registration of a trait's entry.
    pub const fn of_trait<E: TraitEntry>() -> Self {
        Self {
            chare: E::Trait::NAME,
            name: E::NAME,
            id: EntryId { chare_type: type_id(E::Trait::NAME), index: E::INDEX },
            options: CallOptions::of_entry(E::PRIORITY, E::LANE),
            demand: None,
            nocopy: E::NOCOPY,
            signature: E::SIGNATURE,
            decode: Arguments::decode::<E::Arguments>,
            invoke: run::<E>,
            invoke_with_copy: |chare, arguments| {
                run::<E>(chare, &mut arguments.clone(), NocopyArguments::new(None))
            },
            post: |_, _, _| unreachable!("it has no posted parameters"),
            // Bytes that are no arguments are dropped as they are.
            forsake: |arguments| drop(arguments.take().map(E::forsake)),
            bundles: None,
        }
    }
}

/// Runs the method that the chare's type has for the entry.
///
/// # Errors
/// When the type does not implement the trait: the target of a message from another node is an allegation.
fn run<E: TraitEntry>(
    chare: &Rc<dyn AnyChare>,
    arguments: &mut Arguments,
    nocopy: NocopyArguments<'_>,
) -> Called {
    let identity = chare.identity();
    match registry().implementation(type_id(E::Trait::NAME), identity.name()) {
        Some(methods) => (methods[usize::from(E::INDEX)].0)(chare, arguments, nocopy),
        None => Err(Box::new(NotCalled::Unimplemented(E::Trait::NAME))),
    }
}
