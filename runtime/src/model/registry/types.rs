//! Tables of all chare types, traits and entries of the program, found by the ids that messages name.

use super::entry_trait::{ImplementationRegistration, TraitMethod, TraitRegistration};
use super::identity::Identity;
use super::linked::Linked;
use super::name::{Digest, type_id};
use super::registration::{ChareRegistration, DESTRUCTION, EntryRegistration, NotCalled};
use crate::model::ids::{ChareTypeId, EntryId, Target};
use std::sync::OnceLock;

/// All chare types of this program, and all traits of entries.
pub(crate) struct Registry {
    types: Linked<ChareTypeId, ChareRegistration>,
    traits: Linked<ChareTypeId, TraitRegistration>,
    /// Implementations of traits, by trait and chare type.
    implementations: Linked<(ChareTypeId, &'static str), ImplementationRegistration>,
}

/// The program's registry.
pub(crate) fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| Registry {
        types: Linked::collect(inventory::iter::<ChareRegistration>(), |chare| chare.name, |chare| chare.id),
        traits: Linked::collect(
            inventory::iter::<TraitRegistration>(),
            |entries| entries.name,
            |entries| entries.id,
        ),
        implementations: Linked::collect(
            inventory::iter::<ImplementationRegistration>(),
            |one| (one.entry_trait, one.chare),
            |one| (one.entry_trait, one.chare),
        ),
    })
}

impl Registry {
    pub(crate) fn chare(&self, id: ChareTypeId) -> Option<&'static ChareRegistration> {
        self.types.find(&id)
    }

    pub(crate) fn entry(&self, id: EntryId) -> Option<&'static EntryRegistration> {
        let Some(chare) = self.chare(id.chare_type) else {
            return self.traits.find(&id.chare_type)?.entries.get(id.index as usize);
        };
        if id.index == DESTRUCTION { Some(&chare.destruction) } else { chare.entries.get(id.index as usize) }
    }

    /// The methods of a chare type for the entries of a trait.
    pub(super) fn implementation(
        &self,
        entry_trait: ChareTypeId,
        chare: &'static str,
    ) -> Option<&'static [TraitMethod]> {
        self.implementations.find(&(entry_trait, chare)).map(|found| found.methods)
    }

    /// Whether a chare type has this entry, of its own or by a trait.
    pub(crate) fn runs(&self, entry: EntryId, chare: &ChareRegistration) -> bool {
        entry.chare_type == chare.id || self.implementation(entry.chare_type, chare.name).is_some()
    }

    /// A name that two types or traits have, if there is one: the job must not start.
    pub(crate) fn duplicate(&self) -> Option<&'static str> {
        let twice = self.types.duplicate().map(|chare| chare.name);
        let is_type = |entries: &&TraitRegistration| self.types.find(&entries.id).is_some();
        let traits = || self.traits.duplicate().or_else(|| self.traits.iter().find(is_type));
        twice.or_else(|| traits().map(|entries| entries.name))
    }

    /// Adds all types and traits, their entries and signatures, to the digest.
    pub(crate) fn add_to(&self, digest: &mut Digest) {
        for chare in self.types.iter() {
            digest.add(chare.name, chare.constructor);
            digest.add("index", (chare.index.type_name)());
            if chare.movement.is_some() {
                digest.add("migrates", chare.name);
            }
            chare.entries.iter().for_each(|entry| digest.add(entry.name, entry.signature));
        }
        for entries in self.traits.iter() {
            digest.add("trait", entries.name);
            entries.entries.iter().for_each(|entry| digest.add(entry.name, entry.signature));
        }
        for ImplementationRegistration { entry_trait, chare, .. } in self.implementations.iter() {
            let name = self.traits.find(entry_trait).map_or("", |registered| registered.name);
            digest.add(chare, name);
        }
    }
}

/// A chare of this type, named for humans.
pub(crate) fn show(type_name: &str, target: Target) -> String {
    match target {
        Target::Chare(id) => format!("chare {}.{}", id.creator.0, id.serial),
        Target::Member(_, index) => match registry().chare(type_id(type_name)) {
            Some(chare) => format!("member {}", chare.index.show(index)),
            None => format!("member {:#x}", index.bits()),
        },
    }
}

/// The reason that an entry of this chare was not called, in words.
pub(crate) fn explain(cause: &NotCalled, chare: &Identity) -> String {
    let (name, target) = (chare.name(), &chare.target);
    match cause {
        NotCalled::Gone | NotCalled::Leaves => "it was destroyed".to_owned(),
        NotCalled::OtherType(expected) => {
            format!("the call is for {}, which is a {name} and no {expected}", show(name, *target))
        }
        NotCalled::Unimplemented(entry_trait) => {
            format!(
                "the call is for {}, which is a {name} and does not implement {entry_trait}",
                show(name, *target)
            )
        }
        NotCalled::Undecodable(why) | NotCalled::Panicked(why) => why.clone(),
    }
}

/// The entry with this id.
///
/// # Errors
/// When this program has none, in words.
pub(crate) fn find_entry(id: EntryId) -> Result<&'static EntryRegistration, String> {
    registry().entry(id).ok_or_else(|| format!("there is no entry method {id:?}"))
}

/// The chare type with this id.
///
/// # Errors
/// When this program has none, in words.
pub(crate) fn find_chare(id: ChareTypeId) -> Result<&'static ChareRegistration, String> {
    registry().chare(id).ok_or_else(|| format!("there is no chare type {id:?}"))
}

/// Compares a message's nocopy arguments with its entry's parameters.
///
/// # Errors
/// When there are more or fewer arguments than parameters, in words.
pub(crate) fn check_count(given: usize, entry: &EntryRegistration) -> Result<(), String> {
    let expected = entry.nocopy.len();
    if given == expected {
        return Ok(());
    }
    Err(format!("{given} nocopy arguments for the {expected} of {}::{}", entry.chare, entry.name))
}
