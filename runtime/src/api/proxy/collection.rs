//! Collection handles: the part of a generated proxy that reaches all members of a collection.

use super::element::ElementHandle;
use super::handle::{ConstructorArguments, ForMany, equal_by, registration, take_charge_for_many};
use super::section::SectionHandle;
use crate::api::array_options::ArrayOptions;
use crate::api::context::{my_node, my_pe};
use crate::model::arguments::{Arguments, Message};
use crate::model::call_options::CallOptions;
use crate::model::callback::{Callback, Goal};
use crate::model::collection::{Blueprint, Bond, Elements, Placement};
use crate::model::ids::{CollectionId, Index, NodeId, PeId, Target};
use crate::model::index::ArrayIndex;
use crate::model::index_range::IndexRange;
use crate::model::nocopy::Outgoing;
use crate::model::registry::{self, Chare, EntryMethod, EntryRegistration, kind};
use crate::pe::Pe;
use crate::services::array;
use crate::services::broadcast::{self, Broadcast};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use std::sync::Arc;

/// A handle that reaches all members of a collection.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct CollectionHandle<C> {
    id: CollectionId,
    options: Option<CallOptions>,
    chare: PhantomData<fn() -> C>,
}

impl<C: Chare> CollectionHandle<C> {
    pub(super) fn new(id: CollectionId) -> Self {
        Self { id, options: None, chare: PhantomData }
    }

    /// Creates an array. One message to each node, down a tree.
    ///
    /// # Panics
    /// If the placement does not fit the length or the job.
    pub fn create_array(options: ArrayOptions<C::Index>, arguments: ConstructorArguments<C>) -> Self {
        Self::create(Arguments::new(arguments), |id| options.blueprint(id, registration::<C>().id))
    }

    /// Creates an array without elements.
    ///
    /// # Panics
    /// If the options name elements.
    pub fn create_empty(options: ArrayOptions<C::Index>) -> Self {
        assert!(options.len() == 0, "an array of {} with elements is created with their arguments", C::NAME);
        Self::create(Arguments::new(()), |id| options.blueprint(id, registration::<C>().id))
    }

    /// Creates a group.
    pub fn create_group(after: Option<CollectionId>, arguments: ConstructorArguments<C>) -> Self {
        Self::create_counted(u64::from(crate::api::context::pes()), Placement::PerPe, after, arguments)
    }

    /// Creates a nodegroup.
    pub fn create_nodegroup(after: Option<CollectionId>, arguments: ConstructorArguments<C>) -> Self {
        Self::create_counted(u64::from(crate::api::context::nodes()), Placement::PerNode, after, arguments)
    }

    fn create_counted(
        len: u64,
        placement: Placement,
        after: Option<CollectionId>,
        arguments: ConstructorArguments<C>,
    ) -> Self {
        let elements = Elements::Range(Arc::new(IndexRange::counted(len)));
        let chare = registration::<C>().id;
        let (is_open, created) = (false, None);
        Self::create(Arguments::new(arguments), |id| Blueprint {
            id,
            chare,
            elements,
            placement,
            is_open,
            created,
            after,
        })
    }

    fn create(arguments: Arguments, blueprint: impl FnOnce(CollectionId) -> Blueprint) -> Self {
        Pe::current(|pe| {
            let id = CollectionId { creator: pe.id, serial: pe.serials.next_collection() };
            array::create(pe, blueprint(id), registration::<C>(), &arguments);
            Self::new(id)
        })
    }

    /// The handle of an array's element.
    #[inline]
    pub fn at(&self, index: &C::Index) -> ElementHandle<C> {
        let name = index.name().map(Vec::into_boxed_slice);
        ElementHandle { name, ..self.member(index.pack()) }
    }

    fn member(&self, index: Index) -> ElementHandle<C> {
        let options = self.options.clone();
        ElementHandle { options, ..ElementHandle::new(Target::Member(self.id, index)) }
    }

    /// The handle of a group's member on a PE.
    pub fn on(&self, pe: PeId) -> ElementHandle<C> {
        self.member(Index::from(u64::from(pe.0)))
    }

    /// The handle of a nodegroup's member on a node.
    pub fn on_node(&self, node: NodeId) -> ElementHandle<C> {
        self.member(Index::from(u64::from(node.0)))
    }

    /// Forms a section of an array's elements. One message to each PE that is home to one of them.
    pub fn section(&self, indices: impl IntoIterator<Item = C::Index>) -> SectionHandle<C> {
        self.section_of(indices.into_iter().map(|index| index.pack()))
    }

    /// Forms a section of a group's members on these PEs.
    pub fn section_on(&self, pes: impl IntoIterator<Item = impl Into<PeId>>) -> SectionHandle<C> {
        self.section_of(pes.into_iter().map(|pe| Index::from(u64::from(pe.into().0))))
    }

    /// Forms a section of a nodegroup's members on these nodes.
    pub fn section_on_nodes(&self, nodes: impl IntoIterator<Item = impl Into<NodeId>>) -> SectionHandle<C> {
        self.section_of(nodes.into_iter().map(|node| Index::from(u64::from(node.into().0))))
    }

    fn section_of(&self, members: impl Iterator<Item = Index>) -> SectionHandle<C> {
        SectionHandle::of_targets(members.map(|index| Target::Member(self.id, index)).collect(), None)
    }

    /// Ends insertions: nobody will insert elements any more. One message to each node, down a tree.
    pub fn done_inserting(&self) {
        Pe::current(|pe| array::done_inserting(pe, self.id));
    }

    /// Destroys all members. One message to each node, down a tree; and, where none can come, about four more for each, by which the
    /// collection ends and is forgotten.
    pub fn destroy(&self) {
        call_all(self.id, self.options(), &registration::<C>().destruction, (), ForMany::default());
    }

    /// The id of the collection, for collections that are to be created after it.
    pub fn id(&self) -> CollectionId {
        self.id
    }

    /// The options by which its calls are queued, if not the entries' own.
    pub(super) fn options(&self) -> Option<&CallOptions> {
        self.options.as_ref()
    }

    /// The handle of a group's member on the caller's PE, or of a nodegroup's member on the caller's node.
    pub fn local(&self) -> ElementHandle<C>
    where
        C::Kind: kind::Local,
    {
        self.member(Index::from(<C::Kind as kind::Local>::here(my_pe(), my_node())))
    }

    /// The same collection; its calls are queued by `options` instead of the entries' own.
    pub fn with(&self, options: CallOptions) -> Self {
        Self { options: Some(options), ..Self::new(self.id) }
    }

    /// Calls an entry of all members. One message to each node, down a tree; encoded once; cloned for each member.
    pub fn broadcast<E: EntryMethod<Chare = C>>(&self, arguments: E::Arguments) {
        self.send::<E>(arguments, ForMany::default());
    }

    /// Calls an entry with nocopy parameters of all members. Large buffers go down the same tree, once into each node that cannot read
    /// its parent's memory in place, and are shared by the node's members; small buffers travel with the message.
    pub fn broadcast_nocopy<E: EntryMethod<Chare = C>>(
        &self,
        arguments: E::Arguments,
        nocopy: impl IntoIterator<Item = Outgoing>,
    ) {
        self.send::<E>(arguments, take_charge_for_many(nocopy));
    }

    fn send<E: EntryMethod<Chare = C>>(&self, arguments: E::Arguments, nocopy: ForMany) {
        call_all(self.id, self.options(), registry::entry::<E>(), arguments, nocopy);
    }

    /// A callback that calls an entry of all members.
    pub fn callback<E: EntryMethod<Chare = C>>(&self) -> Callback<E::Arguments> {
        Callback::new(collection_goal(self.id, registry::entry::<E>()))
    }
}

/// The goal of a callback that calls an entry of all members.
pub(super) fn collection_goal(
    CollectionId { creator, serial }: CollectionId,
    entry: &EntryRegistration,
) -> Goal {
    Goal::Many { service: broadcast::ID, many: (creator, serial), entry: entry.id }
}

/// Calls an entry of all members, queued by `options` instead of the entry's own.
pub(super) fn call_all(
    collection: CollectionId,
    options: Option<&CallOptions>,
    entry: &'static EntryRegistration,
    arguments: impl Message,
    nocopy: ForMany,
) {
    let ForMany { nocopy, dealt } = nocopy;
    let options = options.unwrap_or(&entry.options).clone().deal(dealt);
    let arguments = Arguments::new(arguments);
    let broadcast = Broadcast { collection, entry, arguments, nocopy, reference: 0 };
    Pe::current(|pe| broadcast::call_all(pe, options, broadcast));
}

equal_by!(id of CollectionHandle<C>);

impl<C> Clone for CollectionHandle<C> {
    fn clone(&self) -> Self {
        Self { id: self.id, options: self.options.clone(), chare: PhantomData }
    }
}

impl<C: Chare> std::fmt::Debug for CollectionHandle<C> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "collection {}.{} of {}", self.id.creator.0, self.id.serial, C::NAME)
    }
}

impl CallOptions {
    /// Lets the call, or the creation of a singleton, wait where it has come until the members with which a collection begins are
    /// constructed on that PE, so that the entry may reach them: Charm++'s `setGroupDepID`. Of several collections it waits for each.
    /// Costs an allocation, and some bytes in a message to another node.
    ///
    /// Without this, what one PE sends after it has created a group may run before the group's member is there: creations pass from node
    /// to node down a tree, calls go straight.
    ///
    /// ```
    /// use chare::prelude::*;
    /// use chare::CallOptions;
    ///
    /// struct Settings(u64);
    ///
    /// #[chare(group)]
    /// impl Settings {
    ///     #[entry]
    ///     fn new(value: u64) -> Self {
    ///         Self(value)
    ///     }
    /// }
    ///
    /// struct Worker(u64);
    ///
    /// #[chare]
    /// impl Worker {
    ///     #[entry]
    ///     fn new(settings: SettingsProxy) -> Self {
    ///         Self(settings.local().local(|settings| settings.0).unwrap())
    ///     }
    ///
    ///     #[entry]
    ///     fn value(&self) -> u64 {
    ///         self.0
    ///     }
    /// }
    ///
    /// let code = chare::Job::in_process(2, 2).run(|| async {
    ///     let settings = SettingsProxy::create(7);
    ///     let later = CallOptions::new().after(&settings);
    ///     let worker = WorkerProxy::create_on_with(PeId(3), later, settings);
    ///     assert_eq!(worker.value().await, 7);
    /// });
    /// assert_eq!(code.unwrap(), 0);
    /// ```
    pub fn after<D: Chare>(self, collection: &impl AsRef<CollectionHandle<D>>) -> Self {
        self.after_collection(collection.as_ref().id())
    }
}

impl<I: ArrayIndex> ArrayOptions<I> {
    /// Places each element with the element of the same index of another array, for as long as both live: the two arrays have the same
    /// homes, and an inserted element goes to the PE of the other array's element, if that one is there already. Elements that move
    /// ([`ThisMigrant`](crate::ThisMigrant)) do so together with those that they are bound to; both arrays' are `migrate`, or neither's.
    ///
    /// Cost of a move: as many small messages to the home as elements that are bound to each other, and one message for all states.
    ///
    /// ```
    /// use chare::prelude::*;
    /// use chare::{ArrayOptions, ThisMigrant};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Atoms(f64);
    ///
    /// #[chare(array, migrate)]
    /// impl Atoms {
    ///     #[entry]
    ///     fn new() -> Self {
    ///         Self(1.5)
    ///     }
    ///
    ///     #[entry]
    ///     fn go(&mut self, to: PeId) {
    ///         self.migrate_to(to);
    ///     }
    /// }
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Forces(AtomsProxy);
    ///
    /// #[chare(array, migrate)]
    /// impl Forces {
    ///     #[entry]
    ///     fn new(atoms: AtomsProxy) -> Self {
    ///         Self(atoms)
    ///     }
    ///
    ///     #[entry]
    ///     fn energy(&self) -> (f64, PeId) {
    ///         let atoms = self.0.at(self.this_index()).local(|atoms| atoms.0);
    ///         (atoms.expect("they are on this PE"), chare::my_pe())
    ///     }
    /// }
    ///
    /// let code = chare::Job::in_process(2, 2).run(|| async {
    ///     let atoms = AtomsProxy::create(4);
    ///     let forces = ForcesProxy::create(ArrayOptions::new(4).bind_to(&atoms), atoms.clone());
    ///     atoms.at(1).go(PeId(3));
    ///     chare::quiescence().await;
    ///     assert_eq!(forces.at(1).energy().await, (1.5, PeId(3)));
    /// });
    /// assert_eq!(code.unwrap(), 0);
    /// ```
    pub fn bind_to<D: Chare<Index = I>>(self, other: &impl AsRef<CollectionHandle<D>>) -> Self {
        self.placement(Placement::With(Bond(other.as_ref().id())))
    }

    /// Constructs the elements on each PE after the members of another collection there, so that constructors may reach those members.
    /// Collections that one PE creates come in the order of their creation without this.
    pub fn after<D: Chare>(mut self, other: &impl AsRef<CollectionHandle<D>>) -> Self {
        self.after = Some(other.as_ref().id());
        self
    }
}
