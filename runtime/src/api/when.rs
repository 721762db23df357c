//! Awaited calls: waits of an `async` entry for calls of other entries, in place of Charm++'s `when`.

use crate::model::registry::{AwaitedEntry, Calls, Chare, TakenCall, This};
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A wait for a call of an awaited entry, to come or here already; await it. Made by [`This::when`].
///
/// Without conditions, it takes the first call that came and that no other wait has taken. It yields the parameters as the entry declares
/// them: none as `()`, a single one as itself, several as a tuple; behind them, where the entry returns something, stands the
/// [`Reply`](crate::Reply) that takes the result.
///
/// Dropping the wait takes no call.
#[must_use = "nothing is waited for unless this is awaited"]
pub struct When<'a, E: AwaitedEntry> {
    calls: &'a Calls<E>,
    reference: Option<E::Reference>,
    #[expect(
        clippy::type_complexity,
        reason = "what `matching` was given, and nothing that another name would explain"
    )]
    condition: Option<Box<dyn FnMut(&E::Parameters) -> bool + 'a>>,
    /// The number of the first call that the condition has not looked at.
    from: u64,
    registered: Option<u64>,
}

/// Two waits that end together, made by [`When::and`] or [`Both::and`]: no call is taken before all are there.
#[must_use = "nothing is waited for unless this is awaited"]
pub struct Both<A, B>(A, B);

/// A wait for one call or several.
pub trait Trigger: private::Take {}

impl<T: private::Take> Trigger for T {}

mod private {
    use std::task::Waker;

    /// The steps of a wait, by which waits are combined.
    pub trait Take {
        /// The parameters that its calls bring.
        type Parameters;
        /// The calls it took, so that they can be put back.
        type Taken;
        /// Takes the calls, if they are there.
        fn take(&mut self) -> Option<Self::Taken>;
        /// Undoes `take`.
        fn put_back(&mut self, taken: Self::Taken);
        /// Turns the calls it took into their parameters.
        fn keep(taken: Self::Taken) -> Self::Parameters;
        /// Has the task woken by calls that come.
        fn watch(&mut self, waker: &Waker);
    }
}

use private::Take;

impl<'a, E: AwaitedEntry> When<'a, E> {
    /// Only calls with this reference number: the argument that the entry's declaration marks `#[reference]`, or else the number of the
    /// callback that led to the call ([`Callback::with_reference`](crate::Callback::with_reference); 0 if there is none).
    ///
    /// A call is found by its number at once, however many others wait.
    pub fn reference(mut self, reference: E::Reference) -> Self {
        self.reference = Some(reference);
        self
    }

    /// Only calls whose parameters pass the condition. The condition looks at each call once, in the order in which the calls came: where
    /// many wait with conditions, each of them looks at each call that none has taken before. A reference number finds its call at once.
    ///
    /// # Panics
    /// When the condition itself awaits or makes calls of this entry.
    pub fn matching(mut self, condition: impl FnMut(&E::Parameters) -> bool + 'a) -> Self {
        self.condition = Some(Box::new(condition));
        self
    }

    /// This call and another: both are taken when both are there, and neither before.
    ///
    /// With [`join!`](crate::join) each call is taken as it comes, which is the same unless something else waits for one of them.
    pub fn and<T: Trigger>(self, other: T) -> Both<Self, T> {
        Both(self, other)
    }
}

impl<A, B> Both<A, B> {
    /// These calls and another.
    pub fn and<T: Trigger>(self, other: T) -> Both<Self, T> {
        Both(self, other)
    }
}

impl<E: AwaitedEntry> Take for When<'_, E> {
    type Parameters = E::Parameters;
    type Taken = TakenCall<E::Reference, E::Parameters>;

    fn take(&mut self) -> Option<Self::Taken> {
        let Self { calls, reference, condition, from, .. } = self;
        calls.table().borrow_mut().take(reference.as_ref(), from, |parameters| {
            condition.as_mut().is_none_or(|condition| condition(parameters))
        })
    }

    fn put_back(&mut self, taken: Self::Taken) {
        self.calls.table().borrow_mut().put_back(taken);
    }

    fn keep(taken: Self::Taken) -> Self::Parameters {
        taken.parameters
    }

    fn watch(&mut self, waker: &Waker) {
        let id = self.calls.table().borrow_mut().register(&self.reference, self.registered, waker);
        self.registered = Some(id);
    }
}

impl<A: Take, B: Take> Take for Both<A, B> {
    type Parameters = (A::Parameters, B::Parameters);
    type Taken = (A::Taken, B::Taken);

    fn take(&mut self) -> Option<Self::Taken> {
        let first = self.0.take()?;
        match self.1.take() {
            Some(second) => Some((first, second)),
            None => {
                self.0.put_back(first);
                None
            }
        }
    }

    fn put_back(&mut self, (first, second): Self::Taken) {
        self.0.put_back(first);
        self.1.put_back(second);
    }

    fn keep((first, second): Self::Taken) -> Self::Parameters {
        (A::keep(first), B::keep(second))
    }

    fn watch(&mut self, waker: &Waker) {
        self.0.watch(waker);
        self.1.watch(waker);
    }
}

fn poll<T: Take>(trigger: &mut T, context: &mut Context<'_>) -> Poll<T::Parameters> {
    match trigger.take() {
        Some(taken) => Poll::Ready(T::keep(taken)),
        None => {
            trigger.watch(context.waker());
            Poll::Pending
        }
    }
}

impl<E: AwaitedEntry> Future for When<'_, E> {
    type Output = E::Parameters;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        poll(self.get_mut(), context)
    }
}

impl<A: Take + Unpin, B: Take + Unpin> Future for Both<A, B> {
    type Output = (A::Parameters, B::Parameters);

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        poll(self.get_mut(), context)
    }
}

// Nothing in a wait is pinned.
impl<E: AwaitedEntry> Unpin for When<'_, E> {}

impl<E: AwaitedEntry> Drop for When<'_, E> {
    fn drop(&mut self) {
        if let Some(id) = self.registered {
            self.calls.table().borrow_mut().unregister(&self.reference, id);
        }
    }
}

impl<C: Chare> This<C> {
    /// Waits for a call of an entry that is declared as awaited, by its name.
    ///
    /// ```
    /// use chare::prelude::*;
    ///
    /// struct Smoother {
    ///     value: f64,
    /// }
    ///
    /// #[chare(array)]
    /// impl Smoother {
    ///     #[entry]
    ///     fn new() -> Self {
    ///         Self { value: chare::this_index::<u64>() as f64 }
    ///     }
    ///
    ///     /// A neighbour's value; awaited by `run`.
    ///     #[entry(awaited)]
    ///     fn neighbour(#[reference] iteration: u32, value: f64);
    ///
    ///     #[entry]
    ///     async fn run(this: This<Self>, iterations: u32, done: Callback<f64>) {
    ///         let (ring, me) = (this.this_collection(), this.this_index());
    ///         for iteration in 0..iterations {
    ///             let value = this.with(|smoother| smoother.value);
    ///             ring.at((me + 1) % 3).neighbour(iteration, value);
    ///             // Whatever comes first: a neighbour that is ahead has sent the next one, perhaps.
    ///             let (_, other) = this.when(Self::neighbour).reference(iteration).await;
    ///             this.with(|smoother| smoother.value = (smoother.value + other) / 2.0);
    ///         }
    ///         this.contribute(max(this.with(|smoother| smoother.value)), done);
    ///     }
    /// }
    ///
    /// let code = chare::Job::in_process(1, 2).run(|| async {
    ///     let (largest, done) = chare::future();
    ///     SmootherProxy::create(3).run(100, done);
    ///     assert_eq!(largest.await, 1.0);
    /// });
    /// assert_eq!(code.unwrap(), 0);
    /// ```
    pub fn when<E: AwaitedEntry<Chare = C>>(&self, _entry: fn() -> PhantomData<E>) -> When<'_, E> {
        When { calls: E::calls(self.awaited()), reference: None, condition: None, from: 0, registered: None }
    }
}
