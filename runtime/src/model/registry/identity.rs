//! Identities of chares: what a PE remembers of a chare beside its state, and the chare of any type.

use crate::model::ids::Target;
use std::any::Any;
use std::cell::Cell;

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

/// The first of a chare's tasks, by its slot in the table of its PE, which links the others.
#[derive(Clone, Debug)]
pub(crate) struct ChareTasks(Cell<u32>);

impl ChareTasks {
    /// No task: ends a list.
    pub(crate) const NONE: u32 = u32::MAX;

    pub(crate) fn first(&self) -> u32 {
        self.0.get()
    }

    /// Returns which was the first before.
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

    /// Whether none of its entries is running.
    fn is_free(&self) -> bool;
}
