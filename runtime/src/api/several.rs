//! Waits for several values at once. A [`Future`] is one of Rust's, so the `futures` crate works with it, too.

use crate::model::arguments::Message;
use crate::pe::future_set::FutureSet;
use crate::pe::futures::Future;
use std::future::poll_fn;

/// Waits for all futures; the values stand in the futures' order.
///
/// ```
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     let (futures, callbacks): (Vec<_>, Vec<_>) = (0..3).map(|_| chare::future()).unzip();
///     callbacks.iter().zip(["a", "b", "c"]).for_each(|(callback, text)| callback.send(text.to_owned()));
///     assert_eq!(chare::wait_all(futures).await, ["a", "b", "c"]);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
pub async fn wait_all<T: Message>(futures: impl IntoIterator<Item = Future<T>>) -> Vec<T> {
    let futures: Vec<_> = futures.into_iter().collect();
    let mut values = Vec::with_capacity(futures.len());
    // Values come whether or not an entry waits, so waiting in turn takes as long as waiting at once.
    for future in futures {
        values.push(future.await);
    }
    values
}

/// Waits for the first value that comes to a future of the set, and takes it out; returns the future's number in the set and its value.
///
/// Costs the same however many futures there are. Values that came before are taken in the order in which they came.
///
/// ```
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     let (futures, callbacks): (Vec<_>, Vec<_>) = (0..3).map(|_| chare::future()).unzip();
///     let mut waiting = chare::FutureSet::from_iter(futures);
///     callbacks[1].send(7);
///     assert_eq!(chare::wait_any(&mut waiting).await, (1, 7));
///     assert_eq!(waiting.len(), 2);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// # Panics
/// If there is no future, and as awaiting the future would.
pub async fn wait_any<T: Message>(futures: &mut FutureSet<T>) -> (usize, T) {
    assert!(!futures.is_empty(), "there is no future to wait for");
    poll_fn(|context| futures.poll_any(context)).await
}

/// Waits until at least one future of the set has its value, and takes out all values that have come, in the order in which they came;
/// returns the futures' numbers in the set and the values.
///
/// Costs as much as there are values. See [`wait_any`].
///
/// # Panics
/// If there is no future, and as awaiting the futures would.
pub async fn wait_some<T: Message>(futures: &mut FutureSet<T>) -> Vec<(usize, T)> {
    let mut taken = vec![wait_any(futures).await];
    taken.extend(std::iter::from_fn(|| futures.take_any()));
    taken
}
