//! Chares in their PE's table: the user's state, the chare's identity, and the handles through which entries reach both.

#![expect(unsafe_code, reason = "finds the type of a chare again, without the detour of `Any`")]

use super::identity::{AnyChare, AwaitedCalls, Identity, OnPanic, Wait};
use super::movement::Movement;
use super::registration::{Called, EntryRegistration, NotCalled};
use super::state_cell::StateCell;
use crate::base::panics;
use crate::model::arguments::{Arguments, Message};
use crate::model::index::ArrayIndex;
use chare_lrts::codec::CodecError;
use std::any::{Any, TypeId};
use std::mem::replace;
use std::rc::Rc;

/// A chare type; `#[chare]` implements it for the type of its `impl` block.
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
    /// What follows from a panic in an entry.
    const ON_PANIC: OnPanic = OnPanic::End;
    /// The operations by which its chares move between PEs, if they may.
    const MOVEMENT: Option<&'static Movement> = None;
    /// The kind of the chare, one of [`kind`](super::kind).
    type Kind;
    /// The type of the index that names a member of its collection.
    type Index: ArrayIndex;
    /// The calls of its awaited entries that wait with a chare: one [`Calls`](crate::macro_support::Calls) for each.
    type Awaited: AwaitedCalls + Default + 'static;
    /// The proxy of the whole: of the collection, or of the singleton.
    type Proxy;
    /// The proxy of one chare.
    type Element;
    /// The constructor's marker.
    type Constructor: Constructor<Chare = Self>;
}

/// A chare's constructor, as a type.
pub trait Constructor: 'static {
    /// The chare type that it constructs.
    type Chare: Chare;
    /// Its parameters.
    type Arguments: Message;
    /// Their types, as written.
    const SIGNATURE: &'static str;
    /// Calls the constructor.
    fn construct(arguments: Self::Arguments) -> Self::Chare;
}

/// The memory that a chare of this type takes at least, in bytes: its cell, and its place in the tables of its PE.
pub(super) const fn bytes_of<C: Chare>() -> u64 {
    (size_of::<ChareCell<C>>() + size_of::<Rc<dyn AnyChare>>() + size_of::<u32>()) as u64
}

/// The one allocation of a chare.
struct ChareCell<C: Chare> {
    identity: Identity,
    state: StateCell<C>,
    /// Calls of awaited entries that no entry has asked for yet.
    awaited: C::Awaited,
}

impl<C: Chare> AnyChare for ChareCell<C> {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn is(&self, type_id: &TypeId) -> bool {
        *type_id == TypeId::of::<Self>()
    }

    fn is_free(&self) -> bool {
        self.state.is_free()
    }

    fn on_panic(&self) -> OnPanic {
        C::ON_PANIC
    }

    fn renew(&self, arguments: Arguments) -> Result<(), CodecError> {
        let renewed = C::Constructor::construct(arguments.take()?);
        let before = self.with(|state| replace(state, renewed));
        // Dropped after the borrow: the drop may run code of the user.
        drop(before);
        Ok(())
    }

    fn each_wait(&self, tell: &mut dyn FnMut(Wait<'_>)) {
        self.awaited.each_wait(tell);
    }
}

impl<C: Chare> ChareCell<C> {
    fn with<R>(&self, body: impl FnOnce(&mut C) -> R) -> R {
        match self.state.borrow() {
            Some(mut state) => body(&mut state),
            None => self.refuse(),
        }
    }

    #[cold]
    fn refuse(&self) -> ! {
        let name = self.identity.name();
        if self.identity.handles.have_no_state() {
            panic!(
                "this {name} has moved to another PE, and its state with it: what was left behind reaches it by a proxy, which `this_chare` makes, and no longer by `This`"
            )
        }
        panic!(
            "the state of this {name} is borrowed already: `local` or `This::with` cannot reach a chare whose entry, or whose closure, is under way"
        )
    }
}

/// A chare lent to one of its entries, for as long as the entry runs.
pub struct ThisRef<'a, C: Chare> {
    chare: &'a Rc<dyn AnyChare>,
    cell: &'a ChareCell<C>,
}

impl<C: Chare> Clone for ThisRef<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Chare> Copy for ThisRef<'_, C> {}

impl<'a, C: Chare> ThisRef<'a, C> {
    /// A chare from the table, if the chare is of this type.
    #[inline]
    pub(crate) fn of(chare: &'a Rc<dyn AnyChare>) -> Option<Self> {
        chare.is(const { &TypeId::of::<ChareCell<C>>() }).then(|| {
            // SAFETY: it is a `ChareCell<C>`, which is all that says so (`ChareCell::is`), and lives as long as the handle is borrowed.
            let cell = unsafe { &*Rc::as_ptr(chare).cast::<ChareCell<C>>() };
            Self { chare, cell }
        })
    }

    /// The chare's awaited calls.
    pub(super) fn awaited(&self) -> &C::Awaited {
        &self.cell.awaited
    }

    /// Borrows the chare's state for the length of a closure; see [`This::with`].
    #[inline]
    pub fn with<R>(&self, body: impl FnOnce(&mut C) -> R) -> R {
        self.cell.with(body)
    }

    /// The handle that an `async` entry keeps.
    pub fn keep(&self) -> This<C> {
        let chare: Rc<dyn Any> = Rc::clone(self.chare) as Rc<dyn Any>;
        This::of(chare.downcast().expect("its type was looked at when it was lent"))
    }

    /// Takes the state out of the chare, for ever; `None` while it is borrowed, and once it was taken.
    pub(super) fn take_state(&self) -> Option<C> {
        let state = self.cell.state.take()?;
        self.cell.identity.handles.note_left();
        Some(state)
    }
}

/// A chare as its entries see it.
///
/// # Errors
/// When the chare was destroyed, or is of another type: the target of a message from another node is an allegation.
#[inline]
pub(crate) fn lend<C: Chare>(chare: &Rc<dyn AnyChare>) -> Result<ThisRef<'_, C>, Box<NotCalled>> {
    match ThisRef::of(chare) {
        Some(this) if !this.cell.identity.is_gone() => Ok(this),
        _ => Err(refuse(chare, C::NAME)),
    }
}

/// Runs an entry's body, as the chare's type says what follows from a panic.
///
/// # Errors
/// A panic that the chare outlives.
#[inline]
pub(crate) fn outlived<C: Chare>(body: impl FnOnce()) -> Called {
    match C::ON_PANIC {
        OnPanic::End => {
            body();
            Ok(())
        }
        OnPanic::Answer | OnPanic::Renew => {
            panics::catch(body).map_err(|cause| Box::new(NotCalled::Panicked(cause)))
        }
    }
}

#[cold]
fn refuse(chare: &Rc<dyn AnyChare>, expected: &'static str) -> Box<NotCalled> {
    Box::new(if chare.identity().is_gone() { NotCalled::Gone } else { NotCalled::OtherType(expected) })
}

/// A chare seen from its own `async` entries.
///
/// Other entries of the chare run while an `async` entry waits, so its state is reached through short
/// borrows that cannot be held over an `.await`.
pub struct This<C: Chare>(Rc<ChareCell<C>>);

impl<C: Chare> This<C> {
    /// A chare for the table, from its constructed state.
    pub(crate) fn seat(identity: Identity, state: C) -> Rc<dyn AnyChare> {
        Self::seat_with(identity, state, C::Awaited::default())
    }

    /// A chare for the table, with calls that wait for its entries.
    pub(super) fn seat_with(identity: Identity, state: C, awaited: C::Awaited) -> Rc<dyn AnyChare> {
        Rc::new(ChareCell { identity, state: StateCell::new(state), awaited })
    }

    /// A handle, which its chare counts.
    fn of(cell: Rc<ChareCell<C>>) -> Self {
        cell.identity.handles.add();
        Self(cell)
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
    /// If called inside itself for the same chare, and when the chare has moved to another PE.
    pub fn with<R>(&self, body: impl FnOnce(&mut C) -> R) -> R {
        self.0.with(body)
    }
}

impl<C: Chare> Clone for This<C> {
    fn clone(&self) -> Self {
        Self::of(Rc::clone(&self.0))
    }
}

impl<C: Chare> Drop for This<C> {
    fn drop(&mut self) {
        self.0.identity.handles.remove();
        // Not the last one alone: tasks that may be called again have some, and do not keep their chare.
        if let Some(movement) = C::MOVEMENT {
            (movement.let_go)();
        }
    }
}
