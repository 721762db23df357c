//! Chare types and entry methods: linked in, sorted by name, their signatures compared between nodes at start.
//!
//! The registry is what the program *is*, not what a job does: it is the only process-wide table, read-only from its first use.

mod declared;
pub mod kind;
mod name;
mod registration;

pub use declared::{Chare, Constructor, Demand, EntryMethod, NocopyKind};
pub(crate) use name::{reducer_id, type_id};
pub(crate) use registration::{Called, Invoke, NotCalled, entry, lend};
pub use registration::{ChareRegistration, EntryRegistration};

use crate::entry_trait::{ImplementationRegistration, TraitMethod, TraitRegistration};
use crate::ids::{ChareTypeId, EntryId, Target};
use crate::placement::MapRegistration;
use crate::reducers::{ReducerId, ReducerRegistration};
use name::{FNV_BASIS, fnv1a};
use registration::DESTRUCTION;
use rustc_hash::FxHashMap;
use std::any::TypeId;
use std::sync::OnceLock;

/// A chare of this type for humans.
pub(crate) fn show(type_name: &str, target: Target) -> String {
    match target {
        Target::Chare(id) => format!("chare {}.{}", id.creator.0, id.serial),
        Target::Member(_, index) => match registry().chare(type_id(type_name)) {
            Some(chare) => format!("member {}", chare.index.show(index)),
            None => format!("member {:#x}", index.bits()),
        },
    }
}

/// All chare types of this program.
pub(crate) struct Registry {
    types: FxHashMap<ChareTypeId, &'static ChareRegistration>,
    maps: FxHashMap<u64, &'static MapRegistration>,
    reducers: FxHashMap<ReducerId, &'static ReducerRegistration>,
    traits: FxHashMap<ChareTypeId, &'static TraitRegistration>,
    /// By trait and chare type.
    implementations: FxHashMap<(ChareTypeId, &'static str), &'static [TraitMethod]>,
    /// Equal in two processes if they have the same chare types with the same entries and signatures.
    pub(crate) digest: u128,
    /// Two registrations of one name, if there are any: the job must not start.
    pub(crate) duplicate: Option<&'static str>,
}

/// The program's registry.
pub(crate) fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let mut registry = Registry::collect(inventory::iter::<ChareRegistration>());
        registry.add_maps(inventory::iter::<MapRegistration>());
        registry.add_reducers(inventory::iter::<ReducerRegistration>());
        registry.add_traits(inventory::iter::<TraitRegistration>());
        registry.add_implementations(inventory::iter::<ImplementationRegistration>());
        registry
    })
}

impl Registry {
    fn collect(linked: impl Iterator<Item = &'static ChareRegistration>) -> Self {
        let mut sorted: Vec<_> = linked.collect();
        // Link order differs between builds.
        sorted.sort_by_key(|registration| registration.name);
        let mut registry = Self {
            types: FxHashMap::default(),
            maps: FxHashMap::default(),
            reducers: FxHashMap::default(),
            traits: FxHashMap::default(),
            implementations: FxHashMap::default(),
            digest: FNV_BASIS,
            duplicate: None,
        };
        for chare in sorted {
            registry.add_to_digest(chare.name, chare.constructor);
            registry.add_to_digest("index", (chare.index.type_name)());
            for entry in chare.entries {
                registry.add_to_digest(entry.name, entry.signature);
            }
            if registry.types.insert(chare.id, chare).is_some() {
                registry.duplicate = Some(chare.name);
            }
        }
        registry
    }

    fn add_maps(&mut self, linked: impl Iterator<Item = &'static MapRegistration>) {
        let mut sorted: Vec<_> = linked.collect();
        sorted.sort_by_key(|registration| registration.name);
        for map in sorted {
            self.add_to_digest(map.name, "map");
            if self.maps.insert(map.id, map).is_some() {
                self.duplicate = Some(map.name);
            }
        }
    }

    fn add_reducers(&mut self, linked: impl Iterator<Item = &'static ReducerRegistration>) {
        let mut sorted: Vec<_> = linked.collect();
        sorted.sort_by_key(|registration| registration.name);
        for reducer in sorted {
            self.add_to_digest("reducer", reducer.name);
            if self.reducers.insert(reducer_id(reducer.name), reducer).is_some() {
                self.duplicate = Some(reducer.name);
            }
        }
    }

    fn add_traits(&mut self, linked: impl Iterator<Item = &'static TraitRegistration>) {
        let mut sorted: Vec<_> = linked.collect();
        sorted.sort_by_key(|registration| registration.name);
        for entries in sorted {
            self.add_to_digest("trait", entries.name);
            for entry in entries.entries {
                self.add_to_digest(entry.name, entry.signature);
            }
            if self.traits.insert(entries.id, entries).is_some() || self.types.contains_key(&entries.id) {
                self.duplicate = Some(entries.name);
            }
        }
    }

    fn add_implementations(&mut self, linked: impl Iterator<Item = &'static ImplementationRegistration>) {
        let mut sorted: Vec<_> = linked.collect();
        sorted.sort_by_key(|registration| (registration.entry_trait, registration.chare));
        for ImplementationRegistration { entry_trait, chare, methods } in sorted {
            let name = self.traits.get(entry_trait).map_or("", |registered| registered.name);
            self.add_to_digest(chare, name);
            self.implementations.insert((*entry_trait, chare), methods);
        }
    }

    fn add_to_digest(&mut self, name: &str, signature: &str) {
        for part in [name, "(", signature, ")"] {
            self.digest = fnv1a(self.digest, part.as_bytes());
        }
    }

    pub(crate) fn chare(&self, id: ChareTypeId) -> Option<&'static ChareRegistration> {
        self.types.get(&id).copied()
    }

    pub(crate) fn reducer(&self, id: ReducerId) -> Option<&'static ReducerRegistration> {
        self.reducers.get(&id).copied()
    }

    pub(crate) fn entry(&self, id: EntryId) -> Option<&'static EntryRegistration> {
        let Some(chare) = self.chare(id.chare_type) else {
            return self.traits.get(&id.chare_type)?.entries.get(id.index as usize);
        };
        if id.index == DESTRUCTION { Some(&chare.destruction) } else { chare.entries.get(id.index as usize) }
    }

    /// What the entries of a trait are for a chare type.
    pub(crate) fn implementation(
        &self,
        entry_trait: ChareTypeId,
        chare: &'static str,
    ) -> Option<&'static [TraitMethod]> {
        self.implementations.get(&(entry_trait, chare)).copied()
    }

    /// Whether a chare type has this entry, of its own or by a trait.
    pub(crate) fn runs(&self, entry: EntryId, chare: &ChareRegistration) -> bool {
        entry.chare_type == chare.id || self.implementation(entry.chare_type, chare.name).is_some()
    }

    /// The rules for homes with this id.
    pub(crate) fn map(&self, id: u64) -> Option<&'static MapRegistration> {
        self.maps.get(&id).copied()
    }

    /// The rules for homes of this type.
    pub(crate) fn map_of(&self, type_id: TypeId) -> Option<&'static MapRegistration> {
        self.maps.values().find(|map| map.type_id == type_id).copied()
    }
}
