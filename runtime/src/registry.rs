//! Chare types and entry methods: linked in, sorted by name, their signatures compared between nodes at start.
//!
//! The registry is what the program *is*, not what a job does: it is the only process-wide table, read-only from its first use.

use crate::aggregation::BundleOperations;
use crate::codec::CodecError;
use crate::entry_trait::{ImplementationRegistration, TraitMethod, TraitRegistration};
use crate::ids::{ChareTypeId, EntryId, Index, Target};
use crate::index::ArrayIndex;
use crate::message::{Arguments, Message};
use crate::object::{AnyChare, Identity, This, ThisRef, bytes_of};
use crate::pe::Pe;
use crate::placement::MapRegistration;
use crate::queue::{CallOptions, Lane};
use crate::reducers::{ReducerId, ReducerRegistration};
use crate::zerocopy::{NocopyArguments, Posts};
use rustc_hash::FxHashMap;
use std::any::TypeId;
use std::rc::Rc;
use std::sync::OnceLock;

/// The kinds of chares, as types for bounds.
pub mod kind {
    /// One chare, placed where it was created or where the creator said.
    #[derive(Debug)]
    pub enum Singleton {}
    /// Many chares with an index, placed by a [`Placement`](crate::Placement).
    #[derive(Debug)]
    pub enum Array {}
    /// One chare per PE.
    #[derive(Debug)]
    pub enum Group {}
    /// One chare per node.
    #[derive(Debug)]
    pub enum NodeGroup {}

    /// A kind whose chares are members of a collection.
    pub trait Collective {}
    impl Collective for Array {}
    impl Collective for Group {}
    impl Collective for NodeGroup {}

    /// A kind with one member wherever a caller is.
    pub trait Local: Collective {
        #[doc(hidden)]
        fn here(pe: crate::PeId, node: crate::NodeId) -> u64;
    }
    impl Local for Group {
        fn here(pe: crate::PeId, _: crate::NodeId) -> u64 {
            u64::from(pe.0)
        }
    }
    impl Local for NodeGroup {
        fn here(_: crate::PeId, node: crate::NodeId) -> u64 {
            u64::from(node.0)
        }
    }
}

/// What `#[chare]` implements for the type of its `impl` block.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no chare",
    label = "no chare",
    note = "mark its impl block with `#[chare]`"
)]
pub trait Chare: Sized + 'static {
    /// The type's full name, equal in every process.
    const NAME: &'static str;
    /// The type's entry methods, in source order.
    const ENTRIES: &'static [EntryRegistration];
    /// One of [`kind`].
    type Kind;
    /// What names a member of its collection.
    type Index: ArrayIndex;
    /// The calls of its awaited entries that wait with a chare: one [`Calls`](crate::macro_support::Calls) for each.
    type Awaited: Default + 'static;
    /// The proxy of the whole: of the collection, or of the one chare.
    type Proxy;
    /// The proxy of one chare.
    type Element;
    /// The constructor's marker.
    type Constructor: Constructor<Chare = Self>;
}

/// A chare's constructor, as a type.
pub trait Constructor: 'static {
    /// What it makes.
    type Chare: Chare;
    /// Its parameters.
    type Arguments: Message;
    /// Their types, as written.
    const SIGNATURE: &'static str;
    /// Calls it.
    fn construct(arguments: Self::Arguments) -> Self::Chare;
}

/// Which way a nocopy parameter receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NocopyKind {
    /// `#[nocopy]`: the runtime provides the memory.
    Received,
    /// `#[nocopy(post)]`: the post method does.
    Posted,
}

/// Where an element is created that is called before it exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Demand {
    /// `#[entry(create_here)]`: on the caller's PE.
    Here,
    /// `#[entry(create_home)]`: at its home.
    Home,
}

/// An entry method, as a type.
pub trait EntryMethod: 'static {
    /// Whose entry.
    type Chare: Chare;
    /// Its parameters but for the nocopy ones.
    type Arguments: Message;
    /// Its name.
    const NAME: &'static str;
    /// Its parameter types, as written.
    const SIGNATURE: &'static str;
    /// Its place in [`Chare::ENTRIES`].
    const INDEX: u16;
    /// Which calls its calls wait for.
    const LANE: Lane = Lane::ByPriority;
    /// Priority of calls that name none; smaller runs first.
    const PRIORITY: i32 = 0;
    /// Whether calls create an element that does not exist.
    const DEMAND: Option<Demand> = None;
    /// Whether a call of a chare on the caller's PE is one of a function.
    const INLINE: bool = false;
    /// Its nocopy parameters.
    const NOCOPY: &'static [NocopyKind] = &[];
    /// Runs it.
    fn invoke(this: ThisRef<'_, Self::Chare>, arguments: Self::Arguments, nocopy: NocopyArguments<'_>);
    /// Runs its post method.
    fn post(_this: ThisRef<'_, Self::Chare>, _arguments: &Self::Arguments, _posts: Posts) {
        unreachable!("only entries with posted parameters have a post method")
    }
}

/// Why an entry was not called, in words.
pub(crate) type Misdirected = String;

pub(crate) type Invoke =
    fn(&Rc<dyn AnyChare>, &mut Arguments, NocopyArguments<'_>) -> Result<(), Misdirected>;

type InvokeWithCopy = fn(&Rc<dyn AnyChare>, &Arguments) -> Result<(), Misdirected>;

type Post = fn(&Rc<dyn AnyChare>, &Arguments, Posts) -> Result<(), Misdirected>;

/// A chare as an entry of `E` sees it.
///
/// # Errors
/// When it is of another type: the target of a message from another node is an allegation.
#[inline]
pub(crate) fn lend<E: EntryMethod>(chare: &Rc<dyn AnyChare>) -> Result<ThisRef<'_, E::Chare>, Misdirected> {
    ThisRef::of(chare).ok_or_else(|| misdirected(chare, E::Chare::NAME))
}

#[cold]
fn misdirected(chare: &Rc<dyn AnyChare>, expected: &str) -> Misdirected {
    let Identity { name, target, .. } = chare.identity();
    format!("the call is for {}, which is a {name} and no {expected}", show(name, *target))
}

/// What the runtime keeps of an entry method.
#[derive(Debug)]
pub struct EntryRegistration {
    pub(crate) chare: &'static str,
    pub(crate) name: &'static str,
    pub(crate) id: EntryId,
    /// How calls are queued when the caller does not say.
    pub(crate) options: CallOptions,
    pub(crate) demand: Option<Demand>,
    pub(crate) nocopy: &'static [NocopyKind],
    pub(crate) signature: &'static str,
    pub(crate) decode: fn(&[u8]) -> Result<Arguments, CodecError>,
    pub(crate) invoke: Invoke,
    /// The same for one of many who get the same arguments, and no nocopy ones: each a copy of its own.
    pub(crate) invoke_with_copy: InvokeWithCopy,
    pub(crate) post: Post,
    /// Where calls travel together.
    pub(crate) bundles: Option<BundleOperations>,
}

impl EntryRegistration {
    /// The registration of an entry's marker type.
    pub const fn of<E: EntryMethod>() -> Self {
        Self {
            chare: E::Chare::NAME,
            name: E::NAME,
            id: EntryId { chare_type: type_id(E::Chare::NAME), index: E::INDEX },
            options: CallOptions::of_entry(E::PRIORITY, E::LANE),
            demand: E::DEMAND,
            nocopy: E::NOCOPY,
            signature: E::SIGNATURE,
            decode: Arguments::decode::<E::Arguments>,
            invoke: |chare, arguments, nocopy| {
                let this = lend::<E>(chare)?;
                let arguments = arguments.take_in_place().map_err(|error| error.to_string())?;
                E::invoke(this, arguments, nocopy);
                Ok(())
            },
            invoke_with_copy: |chare, arguments| {
                let this = lend::<E>(chare)?;
                E::invoke(this, arguments.peek::<E::Arguments>().clone(), NocopyArguments::new(None));
                Ok(())
            },
            post: |chare, arguments, posts| {
                E::post(lend::<E>(chare)?, arguments.peek(), posts);
                Ok(())
            },
            bundles: None,
        }
    }

    /// The entry that every member of an array has: it goes.
    const fn destruction<C: Chare>() -> Self {
        Self {
            chare: C::NAME,
            name: "destroy",
            id: EntryId { chare_type: type_id(C::NAME), index: DESTRUCTION },
            options: CallOptions::of_entry(0, Lane::ByPriority),
            demand: None,
            nocopy: &[],
            signature: "",
            decode: Arguments::decode::<()>,
            invoke: |_, _, _| {
                Pe::current(|pe| pe.destroyed.set(true));
                Ok(())
            },
            invoke_with_copy: |_, _| {
                Pe::current(|pe| pe.destroyed.set(true));
                Ok(())
            },
            post: |_, _, _| unreachable!("it has no posted parameters"),
            bundles: None,
        }
    }

    /// Whether a post method must run before the entry.
    pub(crate) fn has_posts(&self) -> bool {
        self.nocopy.contains(&NocopyKind::Posted)
    }

    /// What an error calls the transfer of one of its nocopy arguments.
    pub(crate) fn fetching(&self) -> String {
        format!("fetching a nocopy argument of {}::{}", self.chare, self.name)
    }
}

/// The static registration of entry `E`.
pub(crate) fn entry<E: EntryMethod>() -> &'static EntryRegistration {
    &E::Chare::ENTRIES[E::INDEX as usize]
}

/// The index of the entry that destroys, behind all that a chare declares.
const DESTRUCTION: u16 = u16::MAX;

type Construct = fn(&Identity, Arguments) -> Result<Rc<dyn AnyChare>, CodecError>;

/// What the runtime keeps of a chare type.
#[derive(Debug)]
pub struct ChareRegistration {
    pub(crate) name: &'static str,
    pub(crate) id: ChareTypeId,
    pub(crate) entries: &'static [EntryRegistration],
    constructor: &'static str,
    /// What one of them takes at least.
    pub(crate) bytes: u64,
    pub(crate) decode: fn(&[u8]) -> Result<Arguments, CodecError>,
    pub(crate) construct: Construct,
    /// Destroys a member.
    pub(crate) destruction: EntryRegistration,
    pub(crate) index: IndexRegistration,
}

/// What the runtime keeps of the type that names a chare's members.
#[derive(Debug)]
pub(crate) struct IndexRegistration {
    pub(crate) type_id: TypeId,
    pub(crate) type_name: fn() -> &'static str,
    /// 0 where it is no integer or tuple.
    pub(crate) dimensions: usize,
    show: fn(Index) -> Option<String>,
}

impl IndexRegistration {
    const fn of<I: ArrayIndex>() -> Self {
        Self {
            type_id: TypeId::of::<I>(),
            type_name: std::any::type_name::<I>,
            dimensions: I::DIMENSIONS,
            show: |index| I::unpack(index).map(|index| format!("{index:?}")),
        }
    }

    /// An index for humans: as the user knows it, or its bits where those are a digest.
    pub(crate) fn show(&self, index: Index) -> String {
        (self.show)(index).unwrap_or_else(|| format!("{:#034x}", index.bits()))
    }
}

impl ChareRegistration {
    /// The registration of a chare type.
    pub const fn of<C: Chare>() -> Self {
        Self {
            name: C::NAME,
            id: type_id(C::NAME),
            entries: C::ENTRIES,
            constructor: C::Constructor::SIGNATURE,
            bytes: bytes_of::<C>(),
            decode: Arguments::decode::<<C::Constructor as Constructor>::Arguments>,
            construct: |identity, arguments| {
                let state = C::Constructor::construct(arguments.take()?);
                Ok(This::seat(identity.clone(), state))
            },
            destruction: EntryRegistration::destruction::<C>(),
            index: IndexRegistration::of::<C::Index>(),
        }
    }
}

inventory::collect!(ChareRegistration);

/// A chare type's id: the hash of its name.
pub(crate) const fn type_id(name: &str) -> ChareTypeId {
    ChareTypeId(hash_of(name))
}

/// A reducer's id: the hash of its name.
pub(crate) const fn reducer_id(name: &str) -> ReducerId {
    ReducerId(hash_of(name))
}

const fn hash_of(name: &str) -> u64 {
    let hash = fnv1a(FNV_BASIS, name.as_bytes());
    (hash >> 64) as u64 ^ hash as u64
}

/// The 128-bit FNV-1a basis and prime (Fowler, Noll, Vo; draft-eastlake-fnv).
const FNV_BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const FNV_PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

const fn fnv1a(mut hash: u128, bytes: &[u8]) -> u128 {
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u128).wrapping_mul(FNV_PRIME);
        at += 1;
    }
    hash
}

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
