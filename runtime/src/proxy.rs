//! What generated proxies call: target, entry, arguments. `**proxy** -> zerocopy -> envelope -> location -> outbox`
//!
//! A handle is what a proxy is made of: small, serializable, typed by its chare.

use crate::broadcast;
use crate::callback::{Callback, Goal};
use crate::chare::{Identity, This};
use crate::collection::{ArrayOptions, CollectionInfo, Placement};
use crate::context::{my_node, my_pe};
use crate::dispatch;
use crate::envelope::{Body, Broadcast, Call, Create, Envelope, Spread};
use crate::ids::{ChareId, CollectionId, Index, NodeId, PeId, Target};
use crate::message::Arguments;
use crate::outbox;
use crate::pe::Pe;
use crate::queue::CallOptions;
use crate::reducers::Contribution;
use crate::reduction::Partial;
use crate::registry::{self, Chare, Constructor, EntryMethod, kind, registry};
use crate::zerocopy::{Leaving, Nocopy, Outgoing, send};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use std::sync::Arc;

type ConstructorArguments<C> = <<C as Chare>::Constructor as Constructor>::Arguments;

/// Reaches one chare.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct ElementHandle<C> {
    target: Target,
    options: Option<CallOptions>,
    chare: PhantomData<fn() -> C>,
}

/// Reaches all members of a collection.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct CollectionHandle<C> {
    id: CollectionId,
    options: Option<CallOptions>,
    chare: PhantomData<fn() -> C>,
}

impl<C: Chare> ElementHandle<C> {
    fn new(target: Target) -> Self {
        Self { target, options: None, chare: PhantomData }
    }

    /// Creates a singleton on a PE chosen at random.
    pub fn create(options: CallOptions, arguments: ConstructorArguments<C>) -> Self {
        Self::create_on(PeId(rand::random_range(0..crate::context::pes())), options, arguments)
    }

    /// Creates a singleton on a PE, whose queue it waits in by `options`. One message.
    ///
    /// # Panics
    /// If there is no such PE.
    pub fn create_on(home: PeId, options: CallOptions, arguments: ConstructorArguments<C>) -> Self {
        Pe::current(|pe| {
            let pes = pe.node.layout.pes();
            assert!(home.0 < pes, "{} cannot be created on {home}: the job has {pes} PEs", C::NAME);
            let id = ChareId { home, creator: pe.id, serial: pe.next_serial_on(home) };
            let create = Create { id, chare: registration::<C>(), arguments: Arguments::new(arguments) };
            let envelope = Envelope { options, body: Body::Create(create) };
            outbox::send(pe, home, envelope);
            Self::new(Target::Chare(id))
        })
    }

    /// The chare that is running.
    pub(crate) fn of_running() -> Self {
        Self::new(with_running(|identity| identity.target))
    }

    /// The same chare; its calls are queued by `options` instead of the entries' own.
    pub fn with(&self, options: CallOptions) -> Self {
        Self { options: Some(options), ..Self::new(self.target) }
    }

    /// Calls an entry. One message, unless the entry is an inline one of a chare on this PE.
    #[inline]
    pub fn call<E: EntryMethod<Chare = C>>(&self, arguments: E::Arguments) {
        if E::INLINE
            && let Some(chare) = Pe::current(|pe| dispatch::find_free(pe, self.target))
        {
            let entry = registry::entry::<E>();
            Pe::current(|pe| dispatch::call_inline(pe, &chare, entry, Arguments::new(arguments)));
        } else {
            self.send::<E>(arguments, None);
        }
    }

    /// Calls an entry with nocopy parameters, in declaration order. One message; the buffers do not travel with it
    /// unless they are small.
    pub fn call_nocopy<E: EntryMethod<Chare = C>>(
        &self,
        arguments: E::Arguments,
        nocopy: impl IntoIterator<Item = Outgoing>,
    ) {
        self.send::<E>(arguments, Some(Box::new(Nocopy::Leaving(leave(nocopy)))));
    }

    #[inline]
    fn send<E: EntryMethod<Chare = C>>(&self, arguments: E::Arguments, nocopy: Option<Box<Nocopy>>) {
        let entry = registry::entry::<E>();
        let options = self.options.as_ref().unwrap_or(&entry.options);
        Pe::current(|pe| {
            outbox::send_call(pe, options, self.target, || Call {
                target: self.target,
                entry,
                arguments: Arguments::new(arguments),
                nocopy,
                reference: 0,
            });
        });
    }

    /// A callback that calls an entry.
    pub fn callback<E: EntryMethod<Chare = C>>(&self) -> Callback<E::Arguments> {
        Callback::new(Goal::Call { target: self.target, entry: registry::entry::<E>().id })
    }
}

impl<C: Chare> CollectionHandle<C> {
    fn new(id: CollectionId) -> Self {
        Self { id, options: None, chare: PhantomData }
    }

    /// Creates an array. One message to each node, down a tree.
    ///
    /// # Panics
    /// If the placement does not fit the length or the job.
    pub fn create_array(options: ArrayOptions, arguments: ConstructorArguments<C>) -> Self {
        Self::create(options.len, options.placement, arguments)
    }

    /// Creates a group.
    pub fn create_group(arguments: ConstructorArguments<C>) -> Self {
        Self::create(u64::from(crate::context::pes()), Placement::PerPe, arguments)
    }

    /// Creates a nodegroup.
    pub fn create_nodegroup(arguments: ConstructorArguments<C>) -> Self {
        Self::create(u64::from(crate::context::nodes()), Placement::PerNode, arguments)
    }

    fn create(len: u64, placement: Placement, arguments: ConstructorArguments<C>) -> Self {
        Pe::current(|pe| {
            let id = CollectionId { creator: pe.id, serial: pe.next_serial() };
            let chare = registration::<C>();
            let arguments = Arguments::new(arguments);
            broadcast::tell_nodes(pe, &arguments, &[], |_| Spread::Members {
                id,
                chare: chare.id,
                len,
                placement: placement.clone(),
            });
            let info = match CollectionInfo::new(id, chare, len, placement, pe.node.layout) {
                Ok(info) => Arc::new(info),
                Err(cause) => panic!("{} cannot be created: {cause}", C::NAME),
            };
            for to in pe.node.pes() {
                let body = Body::CreateMembers { info: Arc::clone(&info), arguments: arguments.clone() };
                outbox::send(pe, to, Envelope { options: CallOptions::new().expedited(), body });
            }
            Self::new(id)
        })
    }

    /// One member.
    pub fn at(&self, index: u64) -> ElementHandle<C> {
        let options = self.options.clone();
        ElementHandle { options, ..ElementHandle::new(Target::Member(self.id, Index(index))) }
    }

    /// A group's member on a PE.
    pub fn on(&self, pe: PeId) -> ElementHandle<C> {
        self.at(u64::from(pe.0))
    }

    /// A nodegroup's member on a node.
    pub fn on_node(&self, node: NodeId) -> ElementHandle<C> {
        self.at(u64::from(node.0))
    }

    /// A group's member on the caller's PE, a nodegroup's on the caller's node.
    pub fn local(&self) -> ElementHandle<C>
    where
        C::Kind: kind::Local,
    {
        self.at(<C::Kind as kind::Local>::here(my_pe(), my_node()))
    }

    /// The same collection; its calls are queued by `options` instead of the entries' own.
    pub fn with(&self, options: CallOptions) -> Self {
        Self { options: Some(options), ..Self::new(self.id) }
    }

    /// Calls an entry of all members. One message to each node, down a tree; encoded once; cloned for each member.
    pub fn broadcast<E: EntryMethod<Chare = C>>(&self, arguments: E::Arguments) {
        self.send::<E>(arguments, Vec::new());
    }

    /// Calls an entry with nocopy parameters of all members. Large buffers go down the same tree, once into each node that
    /// cannot read its parent's memory in place, and are shared by the node's members; small ones travel with the message.
    pub fn broadcast_nocopy<E: EntryMethod<Chare = C>>(
        &self,
        arguments: E::Arguments,
        nocopy: impl IntoIterator<Item = Outgoing>,
    ) {
        self.send::<E>(arguments, leave(nocopy));
    }

    fn send<E: EntryMethod<Chare = C>>(&self, arguments: E::Arguments, nocopy: Vec<Leaving>) {
        let entry = registry::entry::<E>();
        let options = self.options.as_ref().unwrap_or(&entry.options).clone();
        let arguments = Arguments::new(arguments);
        let broadcast = Broadcast { collection: self.id, entry, arguments, nocopy, reference: 0 };
        Pe::current(|pe| broadcast::call_all(pe, options, broadcast));
    }

    /// A callback that calls an entry of all members.
    pub fn callback<E: EntryMethod<Chare = C>>(&self) -> Callback<E::Arguments> {
        Callback::new(Goal::Broadcast { collection: self.id, entry: registry::entry::<E>().id })
    }
}

fn leave<L: FromIterator<Leaving>>(nocopy: impl IntoIterator<Item = Outgoing>) -> L {
    Pe::current(|pe| nocopy.into_iter().map(|outgoing| send::leave(&pe.node, outgoing)).collect())
}

/// The linked-in registration of a chare type.
///
/// # Panics
/// If the type was not registered: `#[chare]` does it.
fn registration<C: Chare>() -> &'static registry::ChareRegistration {
    let found = registry().chare(registry::type_id(C::NAME));
    found.unwrap_or_else(|| panic!("{} is not registered; is its crate linked in?", C::NAME))
}

impl<C> Clone for ElementHandle<C> {
    fn clone(&self) -> Self {
        Self { target: self.target, options: self.options.clone(), chare: PhantomData }
    }
}

impl<C> Clone for CollectionHandle<C> {
    fn clone(&self) -> Self {
        Self { id: self.id, options: self.options.clone(), chare: PhantomData }
    }
}

impl<C: Chare> std::fmt::Debug for ElementHandle<C> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} of {}", self.target, C::NAME)
    }
}

impl<C: Chare> std::fmt::Debug for CollectionHandle<C> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "collection {}.{} of {}", self.id.creator.0, self.id.serial, C::NAME)
    }
}

/// What every chare knows about itself, in its entries and its constructor.
pub trait ThisChare: Chare
where
    Self::Element: From<ElementHandle<Self>>,
{
    /// A proxy of this chare.
    fn this_chare(&self) -> Self::Element {
        ElementHandle::of_running().into()
    }
}

impl<C: Chare> ThisChare for C where C::Element: From<ElementHandle<C>> {}

/// What a member of a collection knows about itself, in its entries.
pub trait ThisMember: Chare
where
    Self::Kind: kind::Collective,
    Self::Proxy: From<CollectionHandle<Self>>,
{
    /// A proxy of the whole collection.
    fn this_collection(&self) -> Self::Proxy {
        CollectionHandle::new(my_place().0).into()
    }

    /// The member's index: its position in an array, its PE in a group, its node in a nodegroup.
    fn this_index(&self) -> u64 {
        my_place().1.0
    }

    /// Adds this member's share to the collection's next reduction; `callback` receives the result once every member has contributed.
    /// All members must name equal callbacks.
    fn contribute<T>(&self, contribution: Contribution<T>, callback: Callback<T>) {
        with_running(|identity| contribute_as(identity, contribution, callback));
    }

    /// The same callback; where it would reach every member of this chare's collection, it reaches this chare alone.
    fn narrow<T>(&self, callback: Callback<T>) -> Callback<T> {
        let (collection, index) = my_place();
        callback.narrowed(collection, index)
    }
}

impl<C: Chare> ThisMember for C
where
    C::Kind: kind::Collective,
    C::Proxy: From<CollectionHandle<C>>,
{
}

/// The index of the member that is running, for constructors, which have no `self` yet.
///
/// # Panics
/// Outside the entries of a collection's members.
pub fn this_index() -> u64 {
    my_place().1.0
}

fn with_running<R>(body: impl FnOnce(&Identity) -> R) -> R {
    Pe::current(|pe| pe.with_running(body))
}

fn my_place() -> (CollectionId, Index) {
    with_running(place_of)
}

fn place_of(identity: &Identity) -> (CollectionId, Index) {
    match identity.target {
        Target::Member(collection, index) => (collection, index),
        Target::Chare(_) => panic!("{} is a singleton: it has no index and no collection", identity.name),
    }
}

fn contribute_as<T>(identity: &Identity, contribution: Contribution<T>, callback: Callback<T>) {
    let number = identity.contributions.get();
    identity.contributions.set(number + 1);
    let partial = Partial::of_member(place_of(identity), number, contribution, callback.erase());
    Pe::current(|pe| dispatch::contribute(pe, partial));
}

impl<C: Chare> This<C> {
    /// A proxy of this chare.
    pub fn proxy(&self) -> C::Element
    where
        C::Element: From<ElementHandle<C>>,
    {
        ElementHandle::new(self.identity().target).into()
    }
}

impl<C: Chare> This<C>
where
    C::Kind: kind::Collective,
{
    /// A proxy of the whole collection.
    pub fn collection(&self) -> C::Proxy
    where
        C::Proxy: From<CollectionHandle<C>>,
    {
        CollectionHandle::new(place_of(self.identity()).0).into()
    }

    /// The member's index.
    pub fn index(&self) -> u64 {
        place_of(self.identity()).1.0
    }

    /// Adds this member's share to the collection's next reduction; see [`ThisMember::contribute`].
    pub fn contribute<T>(&self, contribution: Contribution<T>, callback: Callback<T>) {
        contribute_as(self.identity(), contribution, callback);
    }
}
