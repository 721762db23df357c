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
    /// The number of the collection's reduction to which the chare contributes next; 0 of a singleton; [`Identity::GONE`] after the chare
    /// was destroyed.
    pub(crate) contributions: Cell<u64>,
    pub(crate) tasks: ChareTasks,
}

impl Identity {
    /// In place of a reduction's number: the chare was destroyed and takes part in no reduction any more.
    pub(crate) const GONE: u64 = u64::MAX;

    pub(crate) fn new(target: Target, name: &'static str, next_reduction: u64) -> Self {
        Self { target, name, contributions: Cell::new(next_reduction), tasks: ChareTasks::default() }
    }

    /// Whether the chare was destroyed.
    #[inline]
    pub(crate) fn is_gone(&self) -> bool {
        self.contributions.get() == Self::GONE
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
