//! A chare in its PE's table: the user's state, who it is, and the handle through which entries reach it.

use crate::awaited::AwaitedEntry;
use crate::executor::ChareTasks;
use crate::ids::{Index, Target};
use crate::registry::Chare;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Who a chare is, and what its PE remembers about it. Exists before the constructor runs. A million chares are nothing
/// special, so this holds nothing that can stand elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) target: Target,
    /// The chare type's name, for messages to humans.
    pub(crate) name: &'static str,
    /// Which reduction of its collection it contributes to next, 0 of a singleton; [`Identity::GONE`] after it was destroyed.
    pub(crate) contributions: Cell<u64>,
    pub(crate) tasks: ChareTasks,
}

impl Identity {
    /// Instead of the number of a reduction: it takes part in none any more.
    pub(crate) const GONE: u64 = u64::MAX;

    pub(crate) fn new(target: Target, name: &'static str, next_reduction: u64) -> Self {
        Self { target, name, contributions: Cell::new(next_reduction), tasks: ChareTasks::default() }
    }

    /// Whether it was destroyed.
    #[inline]
    pub(crate) fn is_gone(&self) -> bool {
        self.contributions.get() == Self::GONE
    }
}

/// A chare of any type.
pub(crate) trait AnyChare: Any {
    fn identity(&self) -> &Identity;

    /// Whether none of its entries is running.
    fn is_free(&self) -> bool;
}

/// What a chare of this type takes at least: itself, and its place in the tables of its PE.
pub(crate) const fn bytes_of<C: Chare>() -> u64 {
    (size_of::<Body<C>>() + size_of::<Rc<dyn AnyChare>>() + size_of::<(Index, u32)>()) as u64
}

/// The one allocation of a chare.
struct Body<C: Chare> {
    identity: Identity,
    state: RefCell<C>,
    /// Calls that nobody has asked for.
    awaited: C::Awaited,
}

impl<C: Chare> AnyChare for Body<C> {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn is_free(&self) -> bool {
        self.state.try_borrow_mut().is_ok()
    }
}

impl<C: Chare> Body<C> {
    fn with<R>(&self, body: impl FnOnce(&mut C) -> R) -> R {
        match self.state.try_borrow_mut() {
            Ok(mut state) => body(&mut state),
            Err(_) => self.refuse(),
        }
    }

    #[cold]
    fn refuse(&self) -> ! {
        let Identity { name, .. } = self.identity;
        panic!(
            "the state of this {name} is borrowed already: `local` or `This::with` cannot reach a chare whose entry, or whose closure, is under way"
        )
    }
}

/// A chare lent to one of its entries, for as long as the entry runs.
pub struct ThisRef<'a, C: Chare> {
    chare: &'a Rc<dyn AnyChare>,
    body: &'a Body<C>,
}

impl<C: Chare> Clone for ThisRef<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Chare> Copy for ThisRef<'_, C> {}

impl<'a, C: Chare> ThisRef<'a, C> {
    /// A chare from the table, if it is of this type.
    #[inline]
    pub(crate) fn of(chare: &'a Rc<dyn AnyChare>) -> Option<Self> {
        let any: &dyn Any = &**chare;
        any.downcast_ref().map(|body| Self { chare, body })
    }

    #[inline]
    pub(crate) fn identity(&self) -> &Identity {
        &self.body.identity
    }

    /// Borrows the chare's state for the length of a closure; see [`This::with`].
    #[inline]
    pub fn with<R>(&self, body: impl FnOnce(&mut C) -> R) -> R {
        self.body.with(body)
    }

    /// Puts a call aside until an `async` entry awaits it, and wakes those that do.
    pub fn put_aside<E: AwaitedEntry<Chare = C>>(&self, reference: E::Reference, parameters: E::Parameters) {
        E::calls(&self.body.awaited).table().borrow_mut().put(reference, parameters);
    }

    /// The handle that an `async` entry keeps.
    pub fn keep(&self) -> This<C> {
        let chare: Rc<dyn Any> = Rc::clone(self.chare) as Rc<dyn Any>;
        This(chare.downcast().expect("its type was looked at when it was lent"))
    }
}

/// A chare seen from its own `async` entries.
///
/// Other entries of the chare run while an `async` entry waits, so its state is reached through short
/// borrows that cannot be held over an `.await`.
pub struct This<C: Chare>(Rc<Body<C>>);

impl<C: Chare> This<C> {
    /// A chare for the table, from its constructed state.
    pub(crate) fn seat(identity: Identity, state: C) -> Rc<dyn AnyChare> {
        Rc::new(Body { identity, state: RefCell::new(state), awaited: C::Awaited::default() })
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.0.identity
    }

    pub(crate) fn awaited(&self) -> &C::Awaited {
        &self.0.awaited
    }

    /// Borrows the chare's state for the length of a closure.
    ///
    /// # Panics
    /// If called inside itself for the same chare.
    pub fn with<R>(&self, body: impl FnOnce(&mut C) -> R) -> R {
        self.0.with(body)
    }
}

impl<C: Chare> Clone for This<C> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}
