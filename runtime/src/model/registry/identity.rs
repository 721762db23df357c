//! Identities of chares: the facts that a PE remembers of a chare beside its state; and chares of any type.

use super::on_panic::OnPanic;
use super::waits::Wait;
use crate::model::arguments::Arguments;
use crate::model::ids::Target;
use chare_lrts::codec::CodecError;
use std::any::{Any, TypeId};
use std::cell::Cell;

/// The identity of a chare, and the facts that its PE remembers about it. It exists before the constructor runs. A million chares are
/// nothing special, so it holds nothing that can stand elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) target: Target,
    /// The chare type's name, for messages to humans.
    pub(crate) name: &'static str,
    pub(crate) standing: Cell<Standing>,
    pub(crate) tasks: ChareTasks,
}

impl Identity {
    pub(crate) fn new(target: Target, name: &'static str, standing: Standing) -> Self {
        Self { target, name, standing: Cell::new(standing), tasks: ChareTasks::default() }
    }

    /// Whether the chare was destroyed.
    #[inline]
    pub(crate) fn is_gone(&self) -> bool {
        self.standing.get() == Standing::GONE
    }
}

/// The standing of a chare on its PE, and in the reductions of its collection; eight bytes, one of which is compared before each entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Standing(u64);

impl Standing {
    /// It lives here and has contributed to nothing yet; also that of a singleton.
    pub(crate) const NEW: Self = Self::before(0);
    /// It lives here, and was born after a broadcast: its PE knows more (see [`crate::model::reduction`]).
    pub(crate) const NEWBORN: Self = Self(1 << 63);
    /// It was destroyed, and takes part in no reduction any more.
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

/// A chare of any type.
pub(crate) trait AnyChare: Any {
    fn identity(&self) -> &Identity;

    /// Whether it is of the type with this id: its own type, and no other. Compared where both ids lie: `Any` hands one out by value, which a
    /// processor has to write and read back, a tenth of a call.
    fn is(&self, type_id: &TypeId) -> bool;

    /// Whether none of its entries is running.
    fn is_free(&self) -> bool;

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
