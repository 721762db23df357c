//! Sets of futures: each future of a set tells it that the value has come, so that no wait looks at those that have none.
//!
//! 1. A future has a number in its set, and says it to the set's [`Arrivals`] once, when its value comes.
//! 2. A set hands out values in the order in which they came, and wakes the one task that waits for it.

use super::futures::{Arrivals, Future};
use crate::model::arguments::Message;
use slab::Slab;
use std::rc::Rc;
use std::task::{Context, Poll};

/// Futures whose values are taken as they come, by [`wait_any`](crate::wait_any) and [`wait_some`](crate::wait_some).
///
/// Each future has a number in its set: a set made of some futures numbers them in their order, and the number of one that is put in is
/// returned. A number is free for another future when its value has been taken.
///
/// Costs a step to put one in, one when its value comes, and one to take the value, however many others there are.
///
/// ```
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     let (futures, callbacks): (Vec<_>, Vec<_>) = (0..3).map(|_| chare::future()).unzip();
///     let mut waiting = chare::FutureSet::from_iter(futures);
///     callbacks.iter().rev().zip(["c", "b", "a"]).for_each(|(callback, text)| callback.send(text.to_owned()));
///     let mut heard = Vec::new();
///     while !waiting.is_empty() {
///         heard.push(chare::wait_any(&mut waiting).await);
///     }
///     assert_eq!(heard, [(2, "c".to_owned()), (1, "b".to_owned()), (0, "a".to_owned())]);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
pub struct FutureSet<T> {
    waiting: Slab<Future<T>>,
    arrivals: Rc<Arrivals>,
}

impl<T> Default for FutureSet<T> {
    fn default() -> Self {
        Self { waiting: Slab::new(), arrivals: Rc::default() }
    }
}

impl<T> FutureSet<T> {
    /// A set without futures.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of futures whose values have not been taken.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether all values have been taken.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

impl<T: Message> FutureSet<T> {
    /// Puts a future in; returns its number.
    pub fn insert(&mut self, future: Future<T>) -> usize {
        let entry = self.waiting.vacant_entry();
        let number = entry.key();
        entry.insert(future).arrive_at(&self.arrivals, number);
        number
    }

    /// Takes the value that came first, or has the task woken when one comes.
    pub(crate) fn poll_any(&mut self, context: &Context<'_>) -> Poll<(usize, T)> {
        if let Some(taken) = self.take_any() {
            return Poll::Ready(taken);
        }
        self.arrivals.wake(context.waker());
        Poll::Pending
    }

    /// Takes the value that came first, if any has come.
    pub(crate) fn take_any(&mut self) -> Option<(usize, T)> {
        let number = self.arrivals.take()?;
        let value = self.waiting.remove(number).take_value();
        Some((number, value.expect("it said that its value has come")))
    }
}

impl<T: Message> Extend<Future<T>> for FutureSet<T> {
    fn extend<I: IntoIterator<Item = Future<T>>>(&mut self, futures: I) {
        futures.into_iter().for_each(|future| {
            self.insert(future);
        });
    }
}

impl<T: Message> FromIterator<Future<T>> for FutureSet<T> {
    fn from_iter<I: IntoIterator<Item = Future<T>>>(futures: I) -> Self {
        let mut set = Self::new();
        set.extend(futures);
        set
    }
}
