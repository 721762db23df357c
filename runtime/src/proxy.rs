//! What generated proxies call: target, entry, arguments. `**proxy** -> zerocopy -> envelope -> location -> outbox`
//!
//! A handle is what a proxy is made of: small, serializable, typed by its chare.

use crate::array_options::ArrayOptions;
use crate::broadcast;
use crate::callback::{Callback, Goal};
use crate::chare::{Identity, This, ThisRef};
use crate::codec;
use crate::collection::{Blueprint, CollectionInfo, Elements};
use crate::context::{my_node, my_pe};
use crate::dispatch;
use crate::envelope::{Body, Broadcast, Call, Create, Envelope, Insert, InsertionOrder, Spread, Stage};
use crate::fold;
use crate::ids::{ChareId, CollectionId, Index, NodeId, PeId, Target};
use crate::index::ArrayIndex;
use crate::insertion;
use crate::lifecycle;
use crate::message::{Arguments, Message};
use crate::outbox;
use crate::pe::Pe;
use crate::placement::Placement;
use crate::queue::CallOptions;
use crate::reducers::Contribution;
use crate::reduction::Share;
use crate::registry::{self, Chare, Constructor, EntryMethod, EntryRegistration, kind, registry, show};
use crate::running::Running;
use crate::shape::Shape;
use crate::zerocopy::{Leaving, Nocopy, Outgoing, send};
use serde::{Deserialize, Serialize};
use std::any::TypeId;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

type ConstructorArguments<C> = <<C as Chare>::Constructor as Constructor>::Arguments;

/// Reaches one chare.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct ElementHandle<C> {
    target: Target,
    /// The encoding of an index whose bits are a digest: the element can be inserted.
    name: Option<Box<[u8]>>,
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
        Self { target, name: None, options: None, chare: PhantomData }
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

    pub(crate) fn target(&self) -> Target {
        self.target
    }

    /// How its calls are queued, if not as the entries say.
    pub(crate) fn options(&self) -> Option<&CallOptions> {
        self.options.as_ref()
    }

    /// The chare that is running.
    pub(crate) fn of_running() -> Self {
        Self::new(with_running(|identity| identity.target))
    }

    /// The same chare; its calls are queued by `options` instead of the entries' own.
    pub fn with(&self, options: CallOptions) -> Self {
        Self { options: Some(options), ..self.clone() }
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
                from: pe.id,
                entry,
                arguments: Arguments::new(arguments),
                nocopy,
                reference: 0,
            });
        });
    }

    /// Inserts the element: on a PE, or where its home says. One message to the home, and another if it is to live elsewhere.
    pub fn insert(&self, on: Option<PeId>, arguments: ConstructorArguments<C>) {
        let Target::Member(collection, index) = self.target else { unreachable!("a singleton is created") };
        Pe::current(|pe| {
            let (name, from, stage) = (self.name.clone(), pe.id, Stage::Leaving);
            let order = InsertionOrder { collection, index, name, on, from, stage };
            let arguments = Arguments::new(arguments);
            insertion::insert(pe, Insert { order, chare: registration::<C>(), arguments });
        });
    }

    /// Destroys the member. One message.
    pub fn destroy(&self) {
        let entry = &registration::<C>().destruction;
        let options = self.options.as_ref().unwrap_or(&entry.options);
        Pe::current(|pe| {
            outbox::send_call(pe, options, self.target, || Call {
                target: self.target,
                from: pe.id,
                entry,
                arguments: Arguments::new(()),
                nocopy: None,
                reference: 0,
            });
        });
    }

    /// Reaches the chare without a message, if it lives on this PE.
    ///
    /// # Panics
    /// If the chare's state is borrowed already.
    pub fn local<R>(&self, body: impl FnOnce(&mut C) -> R) -> Option<R> {
        self.call_here("local", body)
    }

    /// Calls a local entry.
    ///
    /// # Panics
    /// If the chare does not live on this PE, or its state is borrowed already.
    pub fn call_local<R>(&self, entry: &'static str, body: impl FnOnce(&mut C) -> R) -> R {
        self.call_here(entry, body).unwrap_or_else(|| {
            let here = my_pe();
            panic!(
                "{}::{entry} is a local entry, and {self:?} is not on {here}: call it where the chare lives, or make the entry an ordinary one",
                C::NAME
            )
        })
    }

    fn call_here<R>(&self, entry: &'static str, body: impl FnOnce(&mut C) -> R) -> Option<R> {
        Pe::current(|pe| {
            let chare = pe.places.borrow_mut().find(self.target)?;
            let this = ThisRef::<C>::of(&chare)?;
            let running_goes = pe.destroyed.take();
            let running = Running { chare: Some(Rc::clone(&chare)), ..Running::named(entry) };
            let result = pe.run_inside(running, || this.with(body));
            lifecycle::remove_if_destroyed(pe, self.target);
            pe.destroyed.set(running_goes);
            Some(result)
        })
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
    pub fn create_array(options: ArrayOptions<C::Index>, arguments: ConstructorArguments<C>) -> Self {
        Self::create(Arguments::new(arguments), |id| options.blueprint(id, registration::<C>().id))
    }

    /// Creates an array without elements.
    ///
    /// # Panics
    /// If the options name elements.
    pub fn create_empty(options: ArrayOptions<C::Index>) -> Self {
        assert!(options.is_empty(), "an array of {} with elements is created with their arguments", C::NAME);
        Self::create(Arguments::new(()), |id| options.blueprint(id, registration::<C>().id))
    }

    /// Creates a group.
    pub fn create_group(arguments: ConstructorArguments<C>) -> Self {
        Self::create_counted(u64::from(crate::context::pes()), Placement::PerPe, arguments)
    }

    /// Creates a nodegroup.
    pub fn create_nodegroup(arguments: ConstructorArguments<C>) -> Self {
        Self::create_counted(u64::from(crate::context::nodes()), Placement::PerNode, arguments)
    }

    fn create_counted(len: u64, placement: Placement, arguments: ConstructorArguments<C>) -> Self {
        let elements = Elements::Range(Arc::new(Shape::counted(len)));
        let chare = registration::<C>().id;
        let (is_open, created) = (false, None);
        Self::create(Arguments::new(arguments), |id| Blueprint {
            id,
            chare,
            elements,
            placement,
            is_open,
            created,
        })
    }

    fn create(arguments: Arguments, blueprint: impl FnOnce(CollectionId) -> Blueprint) -> Self {
        Pe::current(|pe| {
            let id = CollectionId { creator: pe.id, serial: pe.next_serial() };
            let (chare, blueprint) = (registration::<C>(), blueprint(id));
            broadcast::tell_nodes(pe, &arguments, &[], |_| Spread::Members(Box::new(blueprint.clone())));
            let info = match CollectionInfo::new(blueprint, chare, pe.node.layout) {
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

    /// An array's element.
    #[inline]
    pub fn at(&self, index: &C::Index) -> ElementHandle<C> {
        let name = index.name().map(Vec::into_boxed_slice);
        ElementHandle { name, ..self.member(index.pack()) }
    }

    fn member(&self, index: Index) -> ElementHandle<C> {
        let options = self.options.clone();
        ElementHandle { options, ..ElementHandle::new(Target::Member(self.id, index)) }
    }

    /// A group's member on a PE.
    pub fn on(&self, pe: PeId) -> ElementHandle<C> {
        self.member(Index::from(u64::from(pe.0)))
    }

    /// A nodegroup's member on a node.
    pub fn on_node(&self, node: NodeId) -> ElementHandle<C> {
        self.member(Index::from(u64::from(node.0)))
    }

    /// Says that nobody will insert elements any more. One message to each node, down a tree.
    pub fn done_inserting(&self) {
        Pe::current(|pe| insertion::done_inserting(pe, self.id));
    }

    /// Destroys all members. One message to each node, down a tree.
    pub fn destroy(&self) {
        self.send_to(&registration::<C>().destruction, (), Vec::new());
    }

    pub(crate) fn id(&self) -> CollectionId {
        self.id
    }

    /// A group's member on the caller's PE, a nodegroup's on the caller's node.
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
        self.send_to(registry::entry::<E>(), arguments, nocopy);
    }

    fn send_to(&self, entry: &'static EntryRegistration, arguments: impl Message, nocopy: Vec<Leaving>) {
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

pub(crate) fn leave<L: FromIterator<Leaving>>(nocopy: impl IntoIterator<Item = Outgoing>) -> L {
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
        Self {
            target: self.target,
            name: self.name.clone(),
            options: self.options.clone(),
            chare: PhantomData,
        }
    }
}

impl<C> Clone for CollectionHandle<C> {
    fn clone(&self) -> Self {
        Self { id: self.id, options: self.options.clone(), chare: PhantomData }
    }
}

impl<C: Chare> std::fmt::Debug for ElementHandle<C> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} of {}", show(C::NAME, self.target), C::NAME)
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

    /// The member's index: its place in an array, its PE in a group, its node in a nodegroup.
    fn this_index(&self) -> Self::Index {
        with_running(index_of)
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
/// ```
/// # use chare::prelude::*;
/// # struct Cell { corner: (f64, f64) }
/// # #[chare(array, index = (u32, u32))]
/// # impl Cell {
/// #[entry]
/// fn new() -> Self {
///     let (x, y): (u32, u32) = chare::this_index();
///     Self { corner: (f64::from(x), f64::from(y)) }
/// }
/// # }
/// ```
///
/// # Panics
/// Outside the entries of a collection's members, and if their index is of another type.
pub fn this_index<I: ArrayIndex>() -> I {
    with_running(index_of)
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

fn index_of<I: ArrayIndex>(identity: &Identity) -> I {
    let (id, index) = place_of(identity);
    Pe::current(|pe| {
        let places = pe.places.borrow();
        let collection = places.collection(id).expect("a member's collection is known on its PE");
        let registered = &collection.info.chare.index;
        let wanted = std::any::type_name::<I>();
        assert!(
            registered.type_id == TypeId::of::<I>(),
            "the index of {} is a {} and no {wanted}",
            identity.name,
            (registered.type_name)()
        );
        let named = || codec::decode(collection.names.get(&index)?).ok();
        I::unpack(index)
            .or_else(named)
            .unwrap_or_else(|| panic!("the index of a {} came as bits that are no {wanted}", identity.name))
    })
}

fn contribute_as<T>(identity: &Identity, contribution: Contribution<T>, callback: Callback<T>) {
    let number = identity.contributions.get();
    assert!(number != Identity::GONE, "a {} contributes after it was destroyed", identity.name);
    identity.contributions.set(number + 1);
    let (collection, index) = place_of(identity);
    let share = Share::new(index, contribution, callback.erase());
    Pe::current(|pe| fold::contribute(pe, collection, number, share));
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
    pub fn index(&self) -> C::Index {
        index_of(self.identity())
    }

    /// Adds this member's share to the collection's next reduction; see [`ThisMember::contribute`].
    pub fn contribute<T>(&self, contribution: Contribution<T>, callback: Callback<T>) {
        contribute_as(self.identity(), contribution, callback);
    }
}
