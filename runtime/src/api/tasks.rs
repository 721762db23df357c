//! Tasks: those of `async` entries, which the code that `#[chare]` generates starts, and those that users spawn.

use super::promise::Promise;
use super::proxy::ElementHandle;
use crate::base::panics;
use crate::delivery::outliving::outlive;
use crate::model::arguments::Message;
use crate::model::registry::{Chare, EntryMethod, OnPanic};
use crate::model::reply::Reply;
use crate::pe::Pe;
use crate::pe::running::Running;
use std::future::poll_fn;
use std::task::Poll;

/// Answers the caller of an entry.
pub fn answer<C: Chare, T: Message>(reply: Reply<T>, entry: impl FnOnce() -> T) {
    match C::ON_PANIC {
        OnPanic::End => reply.send(entry()),
        // The promise is broken if the entry panics.
        OnPanic::Answer | OnPanic::Renew => {
            let promise = Promise::of_running(reply);
            promise.keep(entry());
        }
    }
}

/// Tells the caller of an entry that will not run that nothing comes.
pub fn forsake<T: Message>(reply: Reply<T>) {
    drop(Promise::of_running(reply));
}

/// Starts an `async` entry: it runs at once, until it has to wait.
pub fn start<C: Chare>(body: impl Future<Output = ()> + 'static) {
    match C::ON_PANIC {
        OnPanic::End => begin(body),
        OnPanic::Answer | OnPanic::Renew => begin(outlived(body)),
    }
}

/// Runs an `async` entry of a chare that outlives its panics, or a task that such an entry has spawned.
pub(super) async fn outlived(body: impl Future<Output = ()>) {
    if let Err(cause) = panics::catch_awaited(body).await {
        Pe::current(|pe| {
            pe.leave_inside(0);
            let Running { chare, entry, .. } = pe.running();
            outlive(pe, &chare.expect("an entry of a chare"), entry, cause);
        });
    }
}

fn begin(body: impl Future<Output = ()> + 'static) {
    Pe::current(|pe| {
        let key = pe.add_task(pe.running(), body);
        pe.tasks.poll(key);
    });
}

/// Starts an `async` entry that returns something, which `reply` receives.
pub fn start_replying<C: Chare, T: Message>(body: impl Future<Output = T> + 'static, reply: Reply<T>) {
    let promise = Promise::of_running(reply);
    start::<C>(async move { promise.keep(body.await) });
}

/// Runs a future beside the caller, on the caller's PE, as an `async` entry runs; it begins after the running entry. It belongs to the
/// running chare, if one runs, and is dropped when that chare is destroyed. What it finds out goes by a [callback](crate::future()) or a
/// call. A panic of it is one of the running entry: what follows says the chare's `on_panic`.
///
/// ```
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     let (answer, callback) = chare::future();
///     chare::spawn(async move { callback.send(6 * 7) });
///     assert_eq!(answer.await, 42);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// # Panics
/// Outside a job's entries; other threads use [`JobHandle::run`](crate::JobHandle::run).
pub fn spawn(body: impl Future<Output = ()> + 'static) {
    Pe::current(|pe| {
        let running = pe.running();
        let goes_on = running.chare.as_ref().is_some_and(|chare| chare.on_panic() != OnPanic::End);
        let key = if goes_on { pe.add_task(running, outlived(body)) } else { pe.add_task(running, body) };
        pe.counters.resumed.add(1);
        pe.queue.borrow_mut().push_task(key);
    });
}

/// Lets the PE run what waits for it now before the running `async` entry goes on: other calls, among them those of this chare, and tasks. As
/// a wake-up it has no priority. Costs as much as a message; nothing else is as cheap a way to take turns in a long computation.
///
/// ```
/// use std::cell::Cell;
/// use std::rc::Rc;
///
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     let (mine, others) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
///     let (seen, theirs) = (Rc::clone(&mine), Rc::clone(&others));
///     chare::spawn(async move {
///         for _ in 0..10 {
///             theirs.set(theirs.get() + 1);
///             chare::yield_now().await;
///             assert!(seen.get() + 2 >= theirs.get(), "they take turns");
///         }
///     });
///     for _ in 0..10 {
///         mine.set(mine.get() + 1);
///         chare::yield_now().await;
///         assert!(others.get() + 2 >= mine.get(), "they take turns");
///     }
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
pub async fn yield_now() {
    let mut has_waited = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Calls the running entry of the running chare again.
pub fn call_again<E: EntryMethod<Arguments = ()>>() {
    ElementHandle::of_running().call::<E>(());
}
