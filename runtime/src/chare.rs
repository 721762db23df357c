//! A chare in its PE's table: the user's state, who it is, and the handle through which entries reach it.

use crate::ids::Target;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Who a chare is, and what its PE remembers about it. Exists before the constructor runs.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) target: Target,
    /// The chare type's name, for messages to humans.
    pub(crate) name: &'static str,
    /// How many reductions it has contributed to.
    pub(crate) contributions: Cell<u64>,
    /// Set when the chare asked to be removed.
    pub(crate) destroyed: Cell<bool>,
}

impl Identity {
    pub(crate) fn new(target: Target, name: &'static str) -> Rc<Self> {
        Rc::new(Self { target, name, contributions: Cell::new(0), destroyed: Cell::new(false) })
    }
}

/// A chare of any type.
pub(crate) trait AnyChare: Any {
    fn identity(&self) -> &Rc<Identity>;
}

struct Body<C> {
    identity: Rc<Identity>,
    state: RefCell<C>,
}

impl<C: 'static> AnyChare for Body<C> {
    fn identity(&self) -> &Rc<Identity> {
        &self.identity
    }
}

/// A chare seen from its own `async` entries.
///
/// Other entries of the chare run while an `async` entry waits, so its state is reached through short
/// borrows that cannot be held over an `.await`.
pub struct This<C>(Rc<Body<C>>);

impl<C: 'static> This<C> {
    /// A chare for the table, from its constructed state.
    pub(crate) fn seat(identity: Rc<Identity>, state: C) -> Rc<dyn AnyChare> {
        Rc::new(Body { identity, state: RefCell::new(state) })
    }

    /// The typed handle of a chare from the table.
    ///
    /// # Panics
    /// If the chare is of another type: the table is keyed by ids that carry the type.
    pub(crate) fn of(chare: &Rc<dyn AnyChare>) -> Self {
        let chare: Rc<dyn Any> = Rc::clone(chare) as Rc<dyn Any>;
        Self(chare.downcast::<Body<C>>().expect("a proxy's type is its chare's type"))
    }

    pub(crate) fn identity(&self) -> &Rc<Identity> {
        &self.0.identity
    }

    /// Borrows the chare's state for the length of a closure.
    ///
    /// # Panics
    /// If called inside itself for the same chare.
    pub fn with<R>(&self, body: impl FnOnce(&mut C) -> R) -> R {
        let mut state = self.0.state.try_borrow_mut().expect(
            "this chare's state is already borrowed: do not call `This::with` inside `This::with` on the same chare",
        );
        body(&mut state)
    }
}

impl<C> Clone for This<C> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}
