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
use super::identity::Wait;
use rustc_hash::FxHashMap;
use std::any::Any;
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

impl<E: AwaitedEntry> Calls<E> {
    /// Takes all calls out, with their numbers. Nobody waits for them here: whoever does holds on to the chare.
    pub fn take(&self) -> Self {
        match self.0.get() {
            None => Self::default(),
            Some(table) => Self(OnceCell::from(Box::new(RefCell::new(table.take())))),
        }
    }

    /// Looks at all calls, in the order in which they came; `None` where none has come yet.
    pub(super) fn look<O>(&self, look: impl FnOnce(&TableOf<E>) -> O) -> Option<O> {
        self.0.get().map(|table| look(&table.borrow()))
    }

    /// Tells of each wait for calls of this entry.
    pub fn each_wait(&self, tell: &mut dyn FnMut(Wait<'_>)) {
        let Some(table) = self.0.get() else { return };
        let table = table.borrow();
        for (asked, waiting) in &table.waiting {
            for waker in waiting.values() {
                let reference = asked.as_ref().and_then(show_number);
                tell(Wait { waker, entry: E::NAME, reference, others: table.calls.len() });
            }
        }
    }
}

/// A reference number in words, if it is of a type that can be shown.
fn show_number<R: 'static>(number: &R) -> Option<String> {
    let number: &dyn Any = number;
    macro_rules! shown_as {
        ($($type:ty),*) => { None$(.or_else(|| number.downcast_ref::<$type>().map(|number| format!("{number:?}"))))* };
    }
    shown_as!(u64, u32, usize, i32, i64, u8, u16, isize, u128, String, (u32, u32), (u64, u64), (usize, usize))
}

impl<C: Chare> ThisRef<'_, C> {
    /// Puts a call aside until an `async` entry awaits it, and wakes the entries that do.
    pub fn put_aside<E: AwaitedEntry<Chare = C>>(&self, reference: E::Reference, parameters: E::Parameters) {
        let woken = E::calls(self.awaited()).table().borrow_mut().put(reference, parameters);
        // A waker may be the user's, and use the table.
        woken.into_iter().flat_map(BTreeMap::into_values).for_each(Waker::wake);
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
    /// The waiters for a reference number, or for any: wakers by ids, so in the order in which they came. A waiter that was woken is
    /// registered no more: it looks at all calls when it is polled, and registers again.
    waiting: FxHashMap<Option<R>, BTreeMap<u64, Waker>>,
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
    /// Adds a call that comes. Returns the waiters that may want it, which are to be woken.
    pub(crate) fn put(&mut self, reference: R, parameters: P) -> [BTreeMap<u64, Waker>; 2] {
        let number = self.arrived;
        self.arrived += 1;
        let asked = [Some(reference.clone()), None];
        let woken = asked.map(|asked| self.waiting.remove(&asked).unwrap_or_default());
        self.by_reference.entry(reference.clone()).or_default().push_back(number);
        self.calls.insert(number, (reference, parameters));
        woken
    }

    /// The calls, in the order in which they came.
    pub(super) fn calls(&self) -> impl ExactSizeIterator<Item = &(R, P)> {
        self.calls.values()
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
        let id = registered.unwrap_or_else(|| {
            self.registered += 1;
            self.registered
        });
        self.waiting.entry(asked.clone()).or_default().insert(id, waker.clone());
        id
    }

    /// Forgets a waiter that does not wait any more.
    pub(crate) fn unregister(&mut self, asked: &Option<R>, id: u64) {
        if let Some(waiting) = self.waiting.get_mut(asked) {
            waiting.remove(&id);
            if waiting.is_empty() {
                self.waiting.remove(asked);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Calls come, and whoever is woken is counted.
    fn put(table: &mut CallTable<u64, u64>, references: impl IntoIterator<Item = u64>) {
        for reference in references {
            table.put(reference, reference).into_iter().flat_map(BTreeMap::into_values).for_each(Waker::wake);
        }
    }

    #[test]
    fn a_waiter_is_woken_once_however_many_calls_come() {
        let (mut table, wakes) = (CallTable::default(), Arc::new(Wakes::default()));
        let waker = Waker::from(Arc::clone(&wakes));
        let count = || wakes.0.swap(0, Ordering::Relaxed);
        let any = table.register(&None, None, &waker);
        let seven = table.register(&Some(7), None, &waker);
        put(&mut table, 0..5);
        assert_eq!(count(), 1, "who waits for any call");
        put(&mut table, 5..10);
        assert_eq!(count(), 1, "who waits for the seventh");
        assert_eq!(table.register(&None, Some(any), &waker), any);
        put(&mut table, [1, 1, 1]);
        assert_eq!(count(), 1, "it has looked meanwhile");
        table.register(&Some(7), Some(seven), &waker);
        table.unregister(&Some(7), seven);
        put(&mut table, [7]);
        assert_eq!((count(), table.waiting.len()), (0, 0));
    }
}
