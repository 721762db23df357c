//! Element handles: the part of a generated proxy that reaches one chare, a singleton or a member of a collection.

use super::handle::{ConstructorArguments, equal_by, registration, take_charge};
use crate::api::context::my_pe;
use crate::delivery::{dispatch, invocation, lifecycle, outbox, remote_call};
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::callback::{Callback, Goal};
use crate::model::envelope::{Body, Call, Create, Envelope};
use crate::model::ids::{ChareId, PeId, Target};
use crate::model::nocopy::{Nocopy, Outgoing};
use crate::model::registry::{self, AnyChare, Chare, EntryMethod, ThisRef, show};
use crate::node::timeline::Kind;
use crate::pe::Pe;
use crate::pe::running::Whose;
use crate::services::aggregation::{self, AggregatedEntry};
use crate::services::array;
use crate::services::seeds::{self, Ground};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use std::rc::Rc;

/// A handle that reaches one chare.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct ElementHandle<C> {
    pub(super) target: Target,
    /// The encoding of an index whose bits are a digest; with it, the element can be inserted.
    pub(super) name: Option<Box<[u8]>>,
    pub(super) options: Option<CallOptions>,
    pub(super) chare: PhantomData<fn() -> C>,
}

impl<C: Chare> ElementHandle<C> {
    pub(super) fn new(target: Target) -> Self {
        Self { target, name: None, options: None, chare: PhantomData }
    }

    /// Creates a singleton where `+seeds` says: on a PE chosen at random, if that says nothing.
    pub fn create(options: CallOptions, arguments: ConstructorArguments<C>) -> Self {
        match Pe::current(|pe| seeds::choose(pe, &options)) {
            Ground::On(home) => Self::create_on(home, options, arguments),
            Ground::Seed => Pe::current(|pe| {
                let create = Self::creation(pe, pe.id, arguments);
                let id = create.id;
                seeds::plant(pe, create);
                Self::new(Target::Chare(id))
            }),
        }
    }

    /// The creation of a singleton whose home is a PE.
    #[inline]
    fn creation(pe: &Pe, home: PeId, arguments: ConstructorArguments<C>) -> Create {
        let id = ChareId { home, creator: pe.id, serial: pe.serials.next_singleton(home) };
        Create { id, chare: registration::<C>(), arguments: Arguments::new(arguments) }
    }

    /// Creates a singleton on a PE. One message, queued there by `options`.
    ///
    /// # Panics
    /// If there is no such PE, or `options` ask who hears the creation or have a deadline.
    pub fn create_on(home: PeId, options: CallOptions, arguments: ConstructorArguments<C>) -> Self {
        Pe::current(|pe| {
            let pes = pe.node.topology.pes();
            assert!(home.0 < pes, "{} cannot be created on {home}: the job has {pes} PEs", C::NAME);
            let fits = options.check_not_counted().and_then(|()| options.check_not_due());
            fits.unwrap_or_else(|cause| panic!("{} is created: {cause}", C::NAME));
            let create = Self::creation(pe, home, arguments);
            let id = create.id;
            pe.places.borrow_mut().expect(id);
            let envelope = Envelope { options, body: Body::Create(create) };
            outbox::send(pe, home, envelope);
            Self::new(Target::Chare(id))
        })
    }

    /// Creates a singleton on this PE before this returns, without a message: for one that is asked for something right away.
    pub(crate) fn create_here(arguments: ConstructorArguments<C>) -> Self {
        Pe::current(|pe| {
            let running_goes = pe.destroyed.take();
            let create = Self::creation(pe, pe.id, arguments);
            let id = create.id;
            lifecycle::create_chare(pe, create);
            pe.destroyed.set(running_goes);
            Self::new(Target::Chare(id))
        })
    }

    pub(crate) fn target(&self) -> Target {
        self.target
    }

    /// The options by which its calls are queued, if not the entries' own.
    pub(crate) fn options(&self) -> Option<&CallOptions> {
        self.options.as_ref()
    }

    /// The handle of the running chare.
    pub(crate) fn of_running() -> Self {
        Self::new(Pe::current(|pe| pe.with_running(|identity| identity.target)))
    }

    /// The same chare; its calls are queued by `options` instead of the entries' own.
    pub fn with(&self, options: CallOptions) -> Self {
        Self { options: Some(options), ..self.clone() }
    }

    /// Calls an entry. One message, unless it is an inline entry of a chare on this PE, and the stack has room for it.
    #[inline]
    pub fn call<E: EntryMethod<Chare = C>>(&self, arguments: E::Arguments) {
        if E::INLINE
            && let Some(chare) = Pe::current(|pe| self.find_for_inline(pe))
        {
            let entry = registry::entry::<E>();
            Pe::current(|pe| invocation::call_inline(pe, &chare, entry, Arguments::new(arguments)));
        } else {
            self.send::<E>(arguments, None);
        }
    }

    /// The chare, if an inline entry of it can run now.
    fn find_for_inline(&self, pe: &Pe) -> Option<Rc<dyn AnyChare>> {
        let waits = |options| dispatch::missing_before(pe, options).is_some();
        let is_message = self.options.as_ref().is_some_and(waits) || pe.is_deep_inside();
        if is_message { None } else { dispatch::find_free(pe, self.target) }
    }

    /// Calls an entry marked `#[entry(aggregate)]`, whose calls travel together; a handle with options of its own sends a message of its
    /// own. Costs some tens of instructions, and a part of a message.
    #[inline]
    pub fn call_aggregated<E: AggregatedEntry<Chare = C>>(&self, arguments: E::Arguments) {
        match (self.target, &self.options) {
            (Target::Member(collection, index), None) => Pe::current(|pe| match pe.within(collection) {
                None => aggregation::call::<E>(pe, collection, index, arguments),
                // What travels with others cannot say that it is part of a broadcast.
                Some(_) => self.call_alone::<E>(arguments),
            }),
            _ => self.call_alone::<E>(arguments),
        }
    }

    /// Calls an entry by a message of its own. Out of line: calls that travel together need not make room for it.
    #[cold]
    fn call_alone<E: EntryMethod<Chare = C>>(&self, arguments: E::Arguments) {
        self.send::<E>(arguments, None);
    }

    /// Calls an entry with nocopy parameters, in declaration order. One message; the buffers do not travel with it
    /// unless they are small.
    pub fn call_nocopy<E: EntryMethod<Chare = C>>(
        &self,
        arguments: E::Arguments,
        nocopy: impl IntoIterator<Item = Outgoing>,
    ) {
        let mut nocopy = nocopy.into_iter();
        let mut first = nocopy.next();
        if self.options.is_none() && E::DEMAND.is_none() {
            let callee = (&self.target, registry::entry::<E>());
            if Pe::current(|pe| remote_call::call(pe, callee, &arguments, &mut first)) {
                return;
            }
        }
        let nocopy = take_charge(first.into_iter().chain(nocopy));
        self.send::<E>(arguments, Some(Box::new(Nocopy::Leaving(nocopy))));
    }

    #[inline]
    fn send<E: EntryMethod<Chare = C>>(&self, arguments: E::Arguments, nocopy: Option<Box<Nocopy>>) {
        let entry = registry::entry::<E>();
        let options = self.options.as_ref().unwrap_or(&entry.options);
        Pe::current(|pe| {
            // The call may create the element, wherever it finds that there is none.
            let options = match (E::DEMAND, &self.name) {
                (Some(_), Some(name)) => &options.clone().for_index(name.clone()),
                _ => options,
            };
            outbox::call(pe, options, (&self.target, entry), arguments, nocopy);
        });
    }

    /// Inserts the element on the given PE, or where its home decides. One message to the home, and another one if the element is to live
    /// elsewhere.
    pub fn insert(&self, on: Option<PeId>, arguments: ConstructorArguments<C>) {
        let Target::Member(collection, index) = self.target else { unreachable!("a singleton is created") };
        Pe::current(|pe| {
            let made_of = (registration::<C>(), Arguments::new(arguments));
            array::insert(pe, (collection, index), self.name.clone(), on, made_of);
        });
    }

    /// Destroys the member. One message.
    pub fn destroy(&self) {
        let entry = &registration::<C>().destruction;
        let options = self.options.as_ref().unwrap_or(&entry.options);
        Pe::current(|pe| {
            outbox::send_call(pe, options, &self.target, || Call {
                target: self.target,
                from: pe.id,
                entry,
                arguments: Arguments::new(()),
                nocopy: None,
                reference: 0,
            });
        });
    }

    /// Reaches the chare without a message, if it lives on this PE. Members of a collection that this PE has created are constructed
    /// now if they are not yet.
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
    #[track_caller]
    pub fn call_local<R>(&self, entry: &'static str, body: impl FnOnce(&mut C) -> R) -> R {
        match self.call_here(entry, body) {
            Some(answer) => answer,
            None => panic!(
                "{}::{entry} is a local entry, and {self:?} is not on {}: call it where the chare lives, or make the entry an ordinary one",
                C::NAME,
                my_pe()
            ),
        }
    }

    fn call_here<R>(&self, entry: &'static str, body: impl FnOnce(&mut C) -> R) -> Option<R> {
        Pe::current(|pe| {
            let chare = self.find_or_construct(pe)?;
            let this = ThisRef::<C>::of(&chare)?;
            let running_goes = pe.destroyed.take();
            let whose = Whose::Chare(Rc::clone(&chare));
            let result = pe.run_inside(Kind::Local, (whose, entry), || this.with(body));
            lifecycle::remove_if_destroyed(pe, self.target);
            pe.destroyed.set(running_goes);
            Some(result)
        })
    }

    fn find_or_construct(&self, pe: &Pe) -> Option<Rc<dyn AnyChare>> {
        let found = pe.places.borrow_mut().find(self.target);
        if let (None, Target::Member(collection, _)) = (&found, self.target) {
            array::bring_forward(pe, collection);
            return pe.places.borrow_mut().find(self.target);
        }
        found
    }

    /// A callback that calls an entry.
    pub fn callback<E: EntryMethod<Chare = C>>(&self) -> Callback<E::Arguments> {
        Callback::new(Goal::Call { target: self.target, entry: registry::entry::<E>().id })
    }
}

equal_by!(target of ElementHandle<C>);

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

impl<C: Chare> std::fmt::Debug for ElementHandle<C> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} of {}", show(C::NAME, self.target), C::NAME)
    }
}
