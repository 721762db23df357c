//! Waits for several values at once: for all, or the first of a set of futures; and races, `select!`, of futures of several types. A
//! [`Future`](crate::Future) is one of Rust's, so the `futures` crate works with it, too.
//!
//! The macro pins each future and makes a list of them; each look begins with a branch that the thread's dice draw and goes round once.

use crate::model::arguments::Message;
use crate::pe::future_set::FutureSet;
use crate::pe::futures;
use chare_lrts::dice;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Outcome of a race: of its first branch, or of one of the others.
pub enum Raced<F, R> {
    /// Its first branch's.
    First(F),
    /// That of one of the others.
    Rest(R),
}

/// Branches of a race.
pub trait Branches {
    /// What one of them brings.
    type Outcome;
    /// How many there are.
    const COUNT: u32;

    /// Whether any is enabled.
    fn any_enabled(&self) -> bool;

    /// Polls the branch at this position, if it is enabled.
    fn poll_at(&mut self, position: u32, context: &mut Context<'_>) -> Poll<Self::Outcome>;
}

/// A branch, and those behind it.
pub struct Branch<'a, F, R> {
    /// What it waits for.
    pub future: Pin<&'a mut F>,
    /// Whether it takes part.
    pub is_enabled: bool,
    /// The others.
    pub rest: R,
}

/// No branch.
pub struct NoBranch;

impl Branches for NoBranch {
    type Outcome = Infallible;
    const COUNT: u32 = 0;

    fn any_enabled(&self) -> bool {
        false
    }

    fn poll_at(&mut self, _: u32, _: &mut Context<'_>) -> Poll<Infallible> {
        Poll::Pending
    }
}

impl<F: Future, R: Branches> Branches for Branch<'_, F, R> {
    type Outcome = Raced<F::Output, R::Outcome>;
    const COUNT: u32 = 1 + R::COUNT;

    fn any_enabled(&self) -> bool {
        self.is_enabled || self.rest.any_enabled()
    }

    fn poll_at(&mut self, position: u32, context: &mut Context<'_>) -> Poll<Self::Outcome> {
        match position.checked_sub(1) {
            None if self.is_enabled => self.future.as_mut().poll(context).map(Raced::First),
            None => Poll::Pending,
            Some(position) => self.rest.poll_at(position, context).map(Raced::Rest),
        }
    }
}

/// Waits until a branch is over; `None` if none takes part. Each look begins with the branch that `first` names among so many.
pub async fn race<B: Branches>(mut branches: B, first: impl Fn(u32) -> u32) -> Option<B::Outcome> {
    if !branches.any_enabled() {
        return None;
    }
    poll_fn(|context| {
        let first = first(B::COUNT);
        let mut positions = (first..B::COUNT).chain(0..first);
        let over = positions.find_map(|position| match branches.poll_at(position, context) {
            Poll::Ready(outcome) => Some(outcome),
            Poll::Pending => None,
        });
        over.map_or(Poll::Pending, |outcome| Poll::Ready(Some(outcome)))
    })
    .await
}

/// The branch that a look begins with, as the dice fall.
pub fn any_branch(count: u32) -> u32 {
    dice::below(u64::from(count)) as u32
}

/// The branch that a look begins with where the order of lines counts.
pub fn first_branch(_count: u32) -> u32 {
    0
}

/// Waits for several futures at once, until the first is over, and drops the others. Among several that are over, the PE's dice decide, unless
/// `biased;` stands first: then the first in the order of the lines.
///
/// A branch is `pattern = future => handler`, with a comma behind a handler that is no block. The pattern fits whatever the future brings.
/// `pattern = future, if condition => handler` takes part only if the condition holds; `else => handler` as the last line runs if no branch
/// does. Handlers run once the other futures are dropped, and may `return`, `break` and `continue`.
///
/// ```
/// use std::time::Duration;
///
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     let (answer, callback) = chare::future::<u32>();
///     callback.send(7);
///     let came = chare::select! {
///         value = answer => Some(value),
///         () = chare::sleep(Duration::from_secs(60)) => None,
///     };
///     assert_eq!(came, Some(7));
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// # Panics
/// If no branch takes part and there is no `else`.
#[macro_export]
macro_rules! select {
    (biased; $($branches:tt)+) => {
        $crate::__race!(@parse {$crate::macro_support::first_branch} [] $($branches)+)
    };
    ($($branches:tt)+) => {
        $crate::__race!(@parse {$crate::macro_support::any_branch} [] $($branches)+)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __race {
    (@parse {$($first:tt)+} [$($done:tt)+]) => {
        $crate::__race!(@end {$($first)+} [$($done)+] {::core::panic!("`select!` has no branch that is enabled, and no `else`")})
    };
    (@parse {$($first:tt)+} [$($done:tt)+] else => $handler:expr $(,)?) => {
        $crate::__race!(@end {$($first)+} [$($done)+] {$handler})
    };
    (@parse {$($first:tt)+} [$($done:tt)*] $pattern:pat = $future:expr $(, if $condition:expr)? => $handler:block $(, $($rest:tt)*)?) => {
        $crate::__race!(@parse {$($first)+} [$($done)* {{$pattern} {$future} {true $(&& $condition)?} {$handler}}] $($($rest)*)?)
    };
    (@parse {$($first:tt)+} [$($done:tt)*] $pattern:pat = $future:expr $(, if $condition:expr)? => $handler:block $($rest:tt)*) => {
        $crate::__race!(@parse {$($first)+} [$($done)* {{$pattern} {$future} {true $(&& $condition)?} {$handler}}] $($rest)*)
    };
    (@parse {$($first:tt)+} [$($done:tt)*] $pattern:pat = $future:expr $(, if $condition:expr)? => $handler:expr $(, $($rest:tt)*)?) => {
        $crate::__race!(@parse {$($first)+} [$($done)* {{$pattern} {$future} {true $(&& $condition)?} {$handler}}] $($($rest)*)?)
    };
    (@end {$($first:tt)+} [$($branch:tt)+] $else:block) => {
        match $crate::__race!(@pin {$($first)+} [] $($branch)+) {
            ::core::option::Option::None => $else,
            ::core::option::Option::Some(outcome) => $crate::__race!(@handle outcome $($branch)+),
        }
    };
    (@pin {$($first:tt)+} [$($pinned:tt)*] {$pattern:tt {$future:expr} {$condition:expr} $handler:tt} $($rest:tt)*) => {{
        let is_enabled = $condition;
        let future = ::core::pin::pin!(::core::future::IntoFuture::into_future($future));
        $crate::__race!(@pin {$($first)+} [{is_enabled future} $($pinned)*] $($rest)*)
    }};
    (@pin {$($first:tt)+} [$({$is_enabled:ident $future:ident})+]) => {{
        let branches = $crate::macro_support::NoBranch;
        $(let branches = $crate::macro_support::Branch { future: $future, is_enabled: $is_enabled, rest: branches };)+
        let outcome = $crate::macro_support::race(branches, $($first)+).await;
        outcome
    }};
    (@handle $outcome:ident {{$pattern:pat} $future:tt $condition:tt {$handler:expr}} $($rest:tt)*) => {
        match $outcome {
            $crate::macro_support::Raced::First($pattern) => $handler,
            $crate::macro_support::Raced::Rest(outcome) => $crate::__race!(@handle outcome $($rest)*),
        }
    };
    (@handle $outcome:ident) => {
        match $outcome {}
    };
}

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
pub async fn wait_all<T: Message>(futures: impl IntoIterator<Item = futures::Future<T>>) -> Vec<T> {
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
