//! Calls of awaited entries: they stay with their chare until one of its `async` entries asks for them.
//!
//! 1. A call of an entry marked `#[entry(awaited)]` runs nothing. It is put into the [`Calls`] of its entry, which the chare owns: the
//!    calls move where the chare moves, and end with it. Quiescence counts the call as over from then on.
//! 2. Calls are numbered as they come, and found by their reference number without a look at the others.
//! 3. A waiter stays registered, under the reference number that it asks for or under none, until it has its call or gives up. A call
//!    that comes wakes all waiters that may want it and belongs to none of them: the waiter that is polled first takes the call. So a
//!    waiter that was woken and gives up takes no call along.
//! 4. A call that was taken on trial is put back under its number, where it was.

use super::chare::{Chare, ThisRef};
use super::entry_method::EntryMethod;
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::hash::Hash;
use std::task::Waker;

/// An entry that is awaited instead of run, as a type.
pub trait AwaitedEntry: EntryMethod {
    /// The type of the reference number that tells the entry's calls from each other.
    type Reference: Clone + Eq + Hash + 'static;
    /// The parameters that the entry's calls bring, nocopy parameters included.
    type Parameters: 'static;
    /// The entry's calls among the awaited calls of a chare.
    fn calls(awaited: &<Self::Chare as Chare>::Awaited) -> &Calls<Self>
    where
        Self: Sized;
}

/// The calls of one entry that wait with a chare, and the waiters for such calls. One word, until the first call or the first waiter.
pub struct Calls<E: AwaitedEntry>(OnceCell<Box<RefCell<TableOf<E>>>>);

type TableOf<E> = CallTable<<E as AwaitedEntry>::Reference, <E as AwaitedEntry>::Parameters>;

impl<E: AwaitedEntry> Default for Calls<E> {
    fn default() -> Self {
        Self(OnceCell::new())
    }
}

impl<E: AwaitedEntry> Calls<E> {
    pub(crate) fn table(&self) -> &RefCell<TableOf<E>> {
        self.0.get_or_init(Box::default)
    }
}

impl<C: Chare> ThisRef<'_, C> {
    /// Puts a call aside until an `async` entry awaits it, and wakes the entries that do.
    pub fn put_aside<E: AwaitedEntry<Chare = C>>(&self, reference: E::Reference, parameters: E::Parameters) {
        E::calls(self.awaited()).table().borrow_mut().put(reference, parameters);
    }
}

/// A call that was taken from its table.
pub struct TakenCall<R, P> {
    pub(crate) number: u64,
    pub(crate) reference: R,
    pub(crate) parameters: P,
}

pub(crate) struct CallTable<R, P> {
    /// The calls, by their numbers.
    calls: BTreeMap<u64, (R, P)>,
    /// The numbers of the calls, by reference number and in the same order.
    by_reference: FxHashMap<R, VecDeque<u64>>,
    /// The waiters for a reference number, or for any: their ids and wakers.
    waiting: FxHashMap<Option<R>, Vec<(u64, Waker)>>,
    /// How many calls have come.
    arrived: u64,
    /// How many waiters have been registered.
    registered: u64,
}

impl<R, P> Default for CallTable<R, P> {
    fn default() -> Self {
        Self {
            calls: BTreeMap::new(),
            by_reference: FxHashMap::default(),
            waiting: FxHashMap::default(),
            arrived: 0,
            registered: 0,
        }
    }
}

impl<R: Clone + Eq + Hash, P> CallTable<R, P> {
    /// Adds a call that comes, and wakes all waiters that may want it.
    pub(crate) fn put(&mut self, reference: R, parameters: P) {
        let number = self.arrived;
        self.arrived += 1;
        for asked in [Some(reference.clone()), None] {
            for (_, waker) in self.waiting.get(&asked).into_iter().flatten() {
                waker.wake_by_ref();
            }
        }
        self.by_reference.entry(reference.clone()).or_default().push_back(number);
        self.calls.insert(number, (reference, parameters));
    }

    /// Takes the first call of number `from` or later that has the reference number, if one is asked for, and that is accepted. `from` is
    /// then the call's number, or, if no call was taken, the number of the next call that comes.
    pub(crate) fn take(
        &mut self,
        reference: Option<&R>,
        from: &mut u64,
        mut accepts: impl FnMut(&P) -> bool,
    ) -> Option<TakenCall<R, P>> {
        let calls = &self.calls;
        let found = match reference {
            None => calls
                .range(*from..)
                .find(|(_, (_, parameters))| accepts(parameters))
                .map(|(number, _)| *number),
            Some(reference) => self.by_reference.get(reference).and_then(|numbers| {
                let first = numbers.partition_point(|number| number < from);
                numbers.range(first..).find(|number| accepts(&calls[number].1)).copied()
            }),
        };
        *from = found.unwrap_or(self.arrived);
        self.remove(found?)
    }

    fn remove(&mut self, number: u64) -> Option<TakenCall<R, P>> {
        let (reference, parameters) = self.calls.remove(&number)?;
        if let Some(numbers) = self.by_reference.get_mut(&reference) {
            if let Ok(position) = numbers.binary_search(&number) {
                numbers.remove(position);
            }
            if numbers.is_empty() {
                self.by_reference.remove(&reference);
            }
        }
        Some(TakenCall { number, reference, parameters })
    }

    /// Puts a call back where it was.
    pub(crate) fn put_back(&mut self, TakenCall { number, reference, parameters }: TakenCall<R, P>) {
        let numbers = self.by_reference.entry(reference.clone()).or_default();
        let position = numbers.partition_point(|other| *other < number);
        numbers.insert(position, number);
        self.calls.insert(number, (reference, parameters));
    }

    /// Registers a waiter, and returns its id; a waiter that is registered already keeps its id and gets the waker that it has now.
    pub(crate) fn register(&mut self, asked: &Option<R>, registered: Option<u64>, waker: &Waker) -> u64 {
        let waiting = self.waiting.entry(asked.clone()).or_default();
        match registered.and_then(|id| waiting.iter_mut().find(|(other, _)| *other == id)) {
            Some((id, known)) => {
                known.clone_from(waker);
                *id
            }
            None => {
                let id = self.registered;
                self.registered += 1;
                waiting.push((id, waker.clone()));
                id
            }
        }
    }

    /// Forgets a waiter that does not wait any more.
    pub(crate) fn unregister(&mut self, asked: &Option<R>, id: u64) {
        if let Some(waiting) = self.waiting.get_mut(asked) {
            waiting.retain(|(other, _)| *other != id);
            if waiting.is_empty() {
                self.waiting.remove(asked);
            }
        }
    }
}
