//! Identities of chares: the facts that a PE remembers of a chare beside its state; and chares of any type, with what becomes of their panics
//! and the calls that their `async` entries wait for.

use crate::model::arguments::Arguments;
use crate::model::ids::Target;
use chare_lrts::codec::CodecError;
use std::any::{Any, TypeId};
use std::cell::Cell;
use std::task::Waker;

/// The identity of a chare, and the facts that its PE remembers about it. It exists before the constructor runs. A million chares are
/// nothing special, so it holds nothing that can stand elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) target: Target,
    /// The name of the chare's type, by way of the registration, which takes one word where the name itself takes two.
    name: &'static &'static str,
    pub(crate) standing: Cell<Standing>,
    pub(crate) tasks: ChareTasks,
    pub(super) handles: Handles,
}

const _: () = assert!(size_of::<Identity>() <= 56);

impl Identity {
    pub(crate) fn new(target: Target, name: &'static &'static str, standing: Standing) -> Self {
        let (standing, tasks, handles) = (Cell::new(standing), ChareTasks::default(), Handles::default());
        Self { target, name, standing, tasks, handles }
    }

    /// The chare type's name, for messages to humans.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// How many handles of the chare its entries, its tasks and closures hold.
    pub(crate) fn handles(&self) -> u32 {
        self.handles.count()
    }

    /// Whether the chare is here no more: it was destroyed, or moved away.
    #[inline]
    pub(crate) fn is_gone(&self) -> bool {
        self.standing.get() == Standing::GONE
    }
}

/// The standing of a chare on its PE, and in the reductions of its collection; eight bytes, which are compared before each entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Standing(u64);

impl Standing {
    /// It lives here and has contributed to nothing yet; also that of a singleton.
    pub(crate) const NEW: Self = Self::before(0);
    /// It lives here, and was born after a broadcast: its PE knows more (see [`crate::model::reduction`]).
    pub(crate) const NEWBORN: Self = Self(1 << 63);
    /// It lives here, and its home counts what it contributes to reductions: it is on a journey (see [`crate::model::home`]).
    pub(crate) const AFAR: Self = Self(1 << 62);
    /// It was destroyed, or lives on another PE: here it takes part in no reduction any more.
    pub(crate) const GONE: Self = Self(u64::MAX);

    /// It lives here, and has contributed to all reductions of its collection before this one.
    pub(crate) const fn before(next: u64) -> Self {
        Self(next)
    }

    /// The first reduction to which it has not contributed; where its PE knows more, or there is none, a number that no reduction has.
    #[inline]
    pub(crate) const fn next(self) -> u64 {
        self.0
    }
}

/// The first of a chare's tasks, by its slot in the table of its PE, which links the others.
#[derive(Clone, Debug)]
pub(crate) struct ChareTasks(Cell<u32>);

impl ChareTasks {
    /// The slot that stands for no task, which ends a list.
    pub(crate) const NONE: u32 = u32::MAX;

    pub(crate) fn first(&self) -> u32 {
        self.0.get()
    }

    /// Makes a slot's task the first; returns the slot of the task that was the first before.
    pub(crate) fn set_first(&self, slot: u32) -> u32 {
        self.0.replace(slot)
    }
}

impl Default for ChareTasks {
    fn default() -> Self {
        Self(Cell::new(Self::NONE))
    }
}

/// The handles of a chare that its entries, its tasks and closures hold, counted; and whether the state has left the chare, which a message to
/// humans says. That stands here, and is not told by the [`Standing`], because nothing looks here on the way of a call: the way would carry
/// along what it has read for such a message.
#[derive(Clone, Debug, Default)]
pub(super) struct Handles(Cell<u32>);

impl Handles {
    /// The state has left.
    const LEFT: u32 = 1 << 31;

    #[inline]
    pub(super) fn add(&self) {
        // A program that forgets handles may come round to where it began: a handle of a chare that has moved says so.
        self.0.set(self.0.get().wrapping_add(1));
    }

    #[inline]
    pub(super) fn remove(&self) {
        self.0.set(self.0.get().wrapping_sub(1));
    }

    /// How many there are.
    pub(super) fn count(&self) -> u32 {
        self.0.get() & !Self::LEFT
    }

    pub(super) fn note_left(&self) {
        self.0.set(self.0.get() | Self::LEFT);
    }

    pub(super) fn have_no_state(&self) -> bool {
        self.0.get() & Self::LEFT != 0
    }
}

/// A chare of any type.
pub(crate) trait AnyChare: Any {
    fn identity(&self) -> &Identity;

    /// Whether it is of the type with this id: its own type, and no other. Compared where both ids lie: `Any` hands one out by value, which a
    /// processor has to write and read back, a tenth of a call.
    fn is(&self, type_id: &TypeId) -> bool;

    /// Whether none of its entries is running.
    fn is_free(&self) -> bool;

    /// Whether its state may leave: nobody borrows it, no task of the chare is under way, and nobody holds a handle by which to reach it.
    /// So nobody waits for its calls, either: a wait holds on to a handle.
    fn is_free_to_move(&self) -> bool {
        let identity = self.identity();
        self.is_free() && identity.tasks.first() == ChareTasks::NONE && identity.handles() == 0
    }

    /// What follows from a panic in one of its entries.
    fn on_panic(&self) -> OnPanic;

    /// Replaces its state by a new one, made of the constructor's arguments.
    ///
    /// # Errors
    /// When these are no arguments of the constructor.
    fn renew(&self, arguments: Arguments) -> Result<(), CodecError>;

    /// Tells of each wait of its `async` entries for calls.
    fn each_wait(&self, tell: &mut dyn FnMut(Wait<'_>));
}

/// What follows from a panic in an entry of a chare type: `#[chare(on_panic = ..)]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnPanic {
    /// The job ends.
    End,
    /// Whoever awaits the entry's answer gets an error, and the chare goes on with the state that the panic left.
    Answer,
    /// As `Answer`, and the chare is constructed anew, from the arguments that it was first made of.
    Renew,
}

/// The calls of a chare's awaited entries that wait with it; `#[chare]` implements it.
pub trait AwaitedCalls {
    /// Tells of each wait for calls.
    fn each_wait(&self, tell: &mut dyn FnMut(Wait<'_>));
}

/// The calls of a chare without awaited entries.
impl AwaitedCalls for () {
    fn each_wait(&self, _tell: &mut dyn FnMut(Wait<'_>)) {}
}

/// A wait of an `async` entry for calls, for messages to humans.
pub struct Wait<'a> {
    /// The waker of the task that waits.
    pub(crate) waker: &'a Waker,
    /// The name of the awaited entry.
    pub(crate) entry: &'static str,
    /// The reference number that is asked for, if one is and it can be shown.
    pub(crate) reference: Option<String>,
    /// How many calls of the entry are here, and not what this wait wants.
    pub(crate) others: usize,
}
