//! Traits of entries: one proxy reaches any chare whose type implements the trait.
//!
//! 1. A trait marked `#[chare::entries]` is registered under its name, with entries of its own. A call of such an entry names the trait
//!    and travels like any other call.
//! 2. Each `impl` with the same mark adds the methods of its type. The chare's type decides, where the chare is, which of them a call
//!    runs.

use super::chare::{Chare, ThisRef, lend, outlived};
use super::name::type_id;
use super::registration::{EntryRegistration, Invoke};
use crate::model::arguments::Message;
use crate::model::call_options::Lane;
use crate::model::ids::ChareTypeId;
use crate::model::nocopy::{NocopyArguments, NocopyKind};

/// A trait of entries; `#[chare::entries]` implements it for the trait's proxy.
pub trait EntryTrait: 'static {
    /// The trait's full name, equal in every process.
    const NAME: &'static str;
    /// Its entries, in source order.
    const ENTRIES: &'static [EntryRegistration];
}

/// A trait of entries that the chare type `C` implements.
pub trait ImplementedBy<C: Chare>: EntryTrait {
    /// The methods of the chare type for the trait's entries, in source order.
    const METHODS: &'static [TraitMethod];
}

/// An entry of a trait, as a type.
pub trait TraitEntry: 'static {
    /// The trait that has the entry, as its proxy.
    type Trait: EntryTrait;
    /// Its parameters, without the nocopy ones.
    type Arguments: Message;
    /// Its name.
    const NAME: &'static str;
    /// Its parameter types, as written.
    const SIGNATURE: &'static str;
    /// Its place in [`EntryTrait::ENTRIES`].
    const INDEX: u16;
    /// The lane in which its calls are queued.
    const LANE: Lane = Lane::ByPriority;
    /// The priority of calls that name none; smaller runs first.
    const PRIORITY: i32 = 0;
    /// Its nocopy parameters.
    const NOCOPY: &'static [NocopyKind] = &[];
    /// Drops the arguments of a call that does not run, and tells who waits for a result.
    fn forsake(arguments: Self::Arguments) {
        drop(arguments);
    }
}

/// An entry of a trait that this chare type implements.
pub trait RunBy<C: Chare>: TraitEntry {
    /// Runs the entry.
    fn invoke(this: ThisRef<'_, C>, arguments: Self::Arguments, nocopy: NocopyArguments<'_>);
}

/// The method of one chare type for an entry of a trait.
#[derive(Debug)]
pub struct TraitMethod(pub(super) Invoke);

impl TraitMethod {
    /// The method of `C` for the entry `E`.
    pub const fn of<C: Chare, E: RunBy<C>>() -> Self {
        Self(|chare, arguments, nocopy| {
            let this = lend(chare)?;
            let arguments = arguments.take_in_place()?;
            outlived::<C>(|| E::invoke(this, arguments, nocopy))
        })
    }
}

/// The static registration of a trait's entry `E`.
pub(crate) fn entry<E: TraitEntry>() -> &'static EntryRegistration {
    &E::Trait::ENTRIES[usize::from(E::INDEX)]
}

/// The registration of a trait of entries.
#[derive(Debug)]
pub struct TraitRegistration {
    pub(crate) name: &'static str,
    pub(crate) id: ChareTypeId,
    pub(crate) entries: &'static [EntryRegistration],
}

impl TraitRegistration {
    /// The registration of the trait with this proxy.
    pub const fn of<P: EntryTrait>() -> Self {
        Self { name: P::NAME, id: type_id(P::NAME), entries: P::ENTRIES }
    }
}

inventory::collect!(TraitRegistration);

/// The registration of a trait's implementation for a chare type.
#[derive(Debug)]
pub struct ImplementationRegistration {
    pub(crate) entry_trait: ChareTypeId,
    pub(crate) chare: &'static str,
    pub(crate) methods: &'static [TraitMethod],
}

impl ImplementationRegistration {
    /// The registration of the implementation, for a chare type, of the trait with this proxy.
    pub const fn of<C: Chare, P: ImplementedBy<C>>() -> Self {
        Self { entry_trait: type_id(P::NAME), chare: C::NAME, methods: P::METHODS }
    }
}

inventory::collect!(ImplementationRegistration);
