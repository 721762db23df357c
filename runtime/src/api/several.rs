//! Waits for several values at once. A [`Future`] is one of Rust's, so the `futures` crate works with it, too.

use crate::model::arguments::Message;
use crate::pe::futures::Future;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

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

/// Waits for the first future that has its value, and takes it out; returns its position and its value. The other futures close up.
///
/// Costs a look at each future up to that one, and a move of each behind it. Who takes thousands out one by one does so faster by a
/// `FuturesUnordered` of the `futures` crate, which knows them by no position.
///
/// ```
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     let (mut futures, callbacks): (Vec<_>, Vec<_>) = (0..3).map(|_| chare::future()).unzip();
///     callbacks[1].send(7);
///     assert_eq!(chare::wait_any(&mut futures).await, (1, 7));
///     assert_eq!(futures.len(), 2);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// # Panics
/// If there is no future.
pub async fn wait_any<T: Message>(futures: &mut Vec<Future<T>>) -> (usize, T) {
    assert!(!futures.is_empty(), "there is no future to wait for");
    poll_fn(|context| {
        let position = futures.iter().position(Future::is_ready);
        let found =
            position.and_then(|position| Some((position, ready(&mut futures.remove(position), context)?)));
        if found.is_none() {
            await_all(futures, context);
        }
        found.map_or(Poll::Pending, Poll::Ready)
    })
    .await
}

/// Has the task woken by the first future that gets its value, none of which has one. Only now: a waker for each costs more than a look.
fn await_all<T: Message>(futures: &mut [Future<T>], context: &mut Context<'_>) {
    for future in futures {
        let value = ready(future, context);
        debug_assert!(value.is_none(), "values come between two polls");
    }
}

/// Waits until at least one future has its value, and takes out all that have; returns their positions and their values. The other
/// futures close up.
///
/// # Panics
/// If there is no future.
pub async fn wait_some<T: Message>(futures: &mut Vec<Future<T>>) -> Vec<(usize, T)> {
    assert!(!futures.is_empty(), "there is no future to wait for");
    poll_fn(|context| {
        let (mut found, mut position) = (Vec::new(), 0);
        futures.retain_mut(|future| {
            let value = if future.is_ready() { ready(future, context) } else { None };
            let waits = value.is_none();
            found.extend(value.map(|value| (position, value)));
            position += 1;
            waits
        });
        if !found.is_empty() {
            return Poll::Ready(found);
        }
        await_all(futures, context);
        Poll::Pending
    })
    .await
}

fn ready<T: Message>(future: &mut Future<T>, context: &mut Context<'_>) -> Option<T> {
    match std::future::Future::poll(Pin::new(future), context) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
