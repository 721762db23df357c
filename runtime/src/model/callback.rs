//! Callbacks: serializable, location-independent destinations of results: an entry, a broadcast, a section, a future, a closure, the
//! job's end, or nothing.
//!
//! `Callback<T>` is typed by the value that it carries, so a reduction of `f64` cannot be sent to an entry that takes a string.
//! `delivery/fire.rs` sends the value.

use crate::model::ids::{EntryId, PeId, ServiceId, Target};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

/// A waiting [`Future`](crate::Future) or closure: its PE, its place in that PE's table and the generation of that place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct FutureId {
    pub(crate) pe: PeId,
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

/// A callback whose value type only its two ends know.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct ErasedCallback {
    pub(crate) goal: Goal,
    pub(crate) reference: u64,
}

/// The destination of a callback.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum Goal {
    Ignore,
    Exit,
    Call {
        target: Target,
        entry: EntryId,
    },
    /// An entry of all chares that a service knows together, such as a collection or a section: by the PE that brought them together and
    /// their number on that PE.
    Many {
        service: ServiceId,
        many: (PeId, u32),
        entry: EntryId,
    },
    /// A future's value, or a closure's argument.
    Resolve(FutureId),
}

/// The destination of a value of type `T` that is sent later: given to a reduction, a transfer, another chare. Small, copyable,
/// serializable.
///
/// | it leads to | made by |
/// |---|---|
/// | an entry of one chare | `proxy.entry_callback()` of a singleton, `proxy.at(index).entry_callback()`, `proxy.on(place).entry_callback()` |
/// | an entry of every member of a collection | `proxy.entry_callback()` of the collection; [`narrow`](crate::ThisMember::narrow) takes one member of it |
/// | an entry of every member of a section | `section.entry_callback()` |
/// | a future that resumes whoever awaits it | [`future`](crate::future()) |
/// | a closure on this PE | [`Callback::once`], [`Callback::each`] |
/// | the end of the job | [`Callback::exit`] |
/// | nothing | [`Callback::ignore`] |
///
/// An entry of several arguments takes their tuple. Wherever a callback travels, it leads to the same place: one that leads to a
/// future or a closure sends a message to the PE that made it. Two callbacks are equal if they lead to the same place and have the
/// same reference number.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Callback<T> {
    erased: ErasedCallback,
    value: PhantomData<fn(T)>,
}

impl<T> Callback<T> {
    pub(crate) fn new(goal: Goal) -> Self {
        Self { erased: ErasedCallback { goal, reference: 0 }, value: PhantomData }
    }

    /// A callback that does nothing.
    pub fn ignore() -> Self {
        Self::new(Goal::Ignore)
    }

    /// A callback that ends the job with exit code 0, whatever the value.
    pub fn exit() -> Self {
        Self::new(Goal::Exit)
    }

    /// The same callback with a reference number, which the entry that it calls reads by [`reference`](crate::reference()).
    pub fn with_reference(mut self, reference: u64) -> Self {
        self.erased.reference = reference;
        self
    }

    /// The reference number; 0 if none was set.
    pub fn reference(&self) -> u64 {
        self.erased.reference
    }

    /// The same callback, except that a callback to all of `many` reaches only `one` of them.
    pub(crate) fn narrowed(mut self, (service, many): (ServiceId, (PeId, u32)), one: Target) -> Self {
        if let Goal::Many { service: by, many: reached, entry } = self.erased.goal
            && (by, reached) == (service, many)
        {
            self.erased.goal = Goal::Call { target: one, entry };
        }
        self
    }

    pub(crate) fn of(erased: ErasedCallback) -> Self {
        Self { erased, value: PhantomData }
    }

    pub(crate) fn erase(&self) -> ErasedCallback {
        self.erased
    }
}

impl<T> PartialEq for Callback<T> {
    fn eq(&self, other: &Self) -> bool {
        self.erased == other.erased
    }
}

impl<T> Eq for Callback<T> {}

impl<T> std::hash::Hash for Callback<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.erased.hash(state);
    }
}

impl<T> Clone for Callback<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Callback<T> {}

impl<T> std::fmt::Debug for Callback<T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Callback({:?}, reference {})", self.erased.goal, self.erased.reference)
    }
}
