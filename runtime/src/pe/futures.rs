//! Futures and the closures of callbacks: each waits for its value on the PE that made it, while its callback travels anywhere; and arrivals
//! at sets of futures, in their order.

use crate::base::panics;
use crate::model::arguments::{Arguments, Message};
use crate::model::callback::FutureId;
use crate::model::error::NoAnswer;
use crate::model::ids::PeId;
use chare_lrts::codec::CodecError;
use slab::Slab;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

#[derive(Default)]
struct FutureSlot {
    /// The value, or the reason why none will come.
    value: Option<Result<Arguments, Box<str>>>,
    waiter: Waiter,
}

/// Who is told that a value has come.
#[derive(Default)]
enum Waiter {
    #[default]
    Nobody,
    Task(Waker),
    /// A set, in which the future has this number.
    Set(Rc<Arrivals>, usize),
}

/// One value that a callback will bring. Await the future in an `async` entry or in `main`; it stays on its PE.
///
/// Dropping the future unresolved is fine: the value is then dropped when it comes.
///
/// # Panics
/// Awaiting the return value of an entry panics if the chare was destroyed before the entry returned, or if the entry panicked and its
/// chare outlives that; the message names both. [`checked`](Future::checked) returns an error instead.
///
/// ```
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     let (answer, callback) = chare::future::<u32>();
///     callback.send(42);
///     assert_eq!(answer.await, 42);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
#[must_use = "the value is lost unless the future is awaited"]
pub struct Future<T> {
    slot: Rc<RefCell<FutureSlot>>,
    value: PhantomData<fn() -> T>,
}

/// Decodes a value that another process has sent to the type that the callback was made for.
pub(crate) type Decode = fn(&[u8]) -> Result<Arguments, CodecError>;

/// Whether a closure has run, or why the value cannot be decoded that it was to take.
type Ran = Result<(), CodecError>;

/// The receiver of a value on its PE; the value may come from anywhere.
enum Resolution {
    Future(Rc<RefCell<FutureSlot>>, Decode),
    Once(Box<dyn FnOnce(Arguments) -> Ran>),
    Each(Rc<RefCell<dyn FnMut(Arguments) -> Ran>>),
}

/// A future that somebody holds, taken out of the table.
pub(crate) struct Awaited(Rc<RefCell<FutureSlot>>);

/// What a value leads to. Wakers, closures and drops may be the user's: they run when the table is free again.
pub(crate) enum Resolved {
    /// A future is to have the value, which may have to be decoded.
    Future(Awaited, Arguments, Decode),
    /// A closure is to run, which fails if the value is not of the type that it takes.
    Closure(Box<dyn FnOnce() -> Ran>),
    /// Nobody waits for the value: it is to be dropped.
    Unheard(Arguments),
}

/// Who waits for a value that will not come.
pub(crate) enum Broken {
    Future(Awaited),
    /// No task awaits the value and could report the cause.
    Closure,
    Unheard,
}

/// The unresolved futures of one PE, and the closures that callbacks run there.
#[derive(Default)]
pub(crate) struct Futures {
    waiting: Slab<(u32, Resolution)>,
    created: u32,
}

impl Futures {
    /// No futures yet, in a job that counts them from `first` on.
    pub(crate) fn new(first: u32) -> Self {
        Self { waiting: Slab::new(), created: first }
    }

    /// The number behind all futures so far.
    pub(crate) fn end(&self) -> u32 {
        self.created
    }

    pub(crate) fn create<T: Message>(&mut self, pe: PeId) -> (Future<T>, FutureId) {
        let slot = Rc::new(RefCell::new(FutureSlot::default()));
        let id = self.add(pe, Resolution::Future(Rc::clone(&slot), Arguments::decode::<T>));
        (Future { slot, value: PhantomData }, id)
    }

    /// Adds a closure that runs with the first value.
    pub(crate) fn add_once<T: Message>(&mut self, pe: PeId, body: impl FnOnce(T) + 'static) -> FutureId {
        self.add(pe, Resolution::Once(Box::new(|value| value.take().map(body))))
    }

    /// Adds a closure that runs with every value.
    pub(crate) fn add_each<T: Message>(&mut self, pe: PeId, mut body: impl FnMut(T) + 'static) -> FutureId {
        self.add(
            pe,
            Resolution::Each(Rc::new(RefCell::new(move |value: Arguments| value.take().map(&mut body)))),
        )
    }

    fn add(&mut self, pe: PeId, waiting: Resolution) -> FutureId {
        self.created = self.created.wrapping_add(1);
        let key = self.waiting.insert((self.created, waiting));
        let slot = u32::try_from(key).expect("fewer than 2^32 futures wait on one PE");
        FutureId { pe, slot, generation: self.created }
    }

    /// Finds out what a value leads to. A future or closure that has had its only value takes no more.
    pub(crate) fn resolve(&mut self, id: FutureId, value: Arguments) -> Resolved {
        let key = id.slot as usize;
        let waiting = self.waiting.get(key).filter(|(generation, _)| *generation == id.generation);
        let Some((_, waiting)) = waiting else { return Resolved::Unheard(value) };
        if let Resolution::Each(body) = waiting {
            let body = Rc::clone(body);
            return Resolved::Closure(Box::new(move || (body.borrow_mut())(value)));
        }
        match self.waiting.remove(key).1 {
            // Nobody else has the future any more.
            Resolution::Future(slot, _) if Rc::strong_count(&slot) == 1 => Resolved::Unheard(value),
            Resolution::Future(slot, decode) => Resolved::Future(Awaited(slot), value, decode),
            Resolution::Once(body) => Resolved::Closure(Box::new(move || body(value))),
            Resolution::Each(_) => unreachable!("it was no such closure"),
        }
    }

    /// The futures of PE `pe` that tasks await, each with the waker's address, by which a task is known.
    pub(crate) fn awaited(&self, pe: PeId) -> impl Iterator<Item = (FutureId, *const ())> {
        self.waiting.iter().filter_map(move |(key, (generation, waiting))| {
            let Resolution::Future(slot, _) = waiting else { return None };
            let waker = slot.borrow().waiter.waker()?;
            let slot = u32::try_from(key).ok()?;
            Some((FutureId { pe, slot, generation: *generation }, waker))
        })
    }

    /// All that still wait, when the job is over.
    pub(crate) fn into_values(self) -> impl Iterator<Item = impl Sized> {
        self.waiting.into_iter().map(|(_, (_, waiting))| waiting)
    }

    /// Finds out who waits for a value that will not come.
    pub(crate) fn break_promise(&mut self, id: FutureId) -> Broken {
        let key = id.slot as usize;
        match self.waiting.get(key) {
            Some((generation, Resolution::Future(slot, _))) if *generation == id.generation => {
                let slot = Rc::clone(slot);
                self.waiting.remove(key);
                Broken::Future(Awaited(slot))
            }
            Some((generation, _)) if *generation == id.generation => Broken::Closure,
            _ => Broken::Unheard,
        }
    }
}

impl Awaited {
    /// Gives the future its value, or the reason why none will come, and wakes the task that waits for it.
    #[inline]
    pub(crate) fn settle(self, value: Result<Arguments, Box<str>>) {
        let waiter = {
            let mut slot = self.0.borrow_mut();
            slot.value = Some(value);
            std::mem::take(&mut slot.waiter)
        };
        match waiter {
            Waiter::Nobody => {}
            Waiter::Task(waker) => waker.wake(),
            Waiter::Set(arrivals, number) => arrivals.add(number),
        }
    }
}

impl Waiter {
    /// The address of the waker of the task that waits.
    fn waker(&self) -> Option<*const ()> {
        match self {
            Self::Nobody => None,
            Self::Task(waker) => Some(waker.data()),
            Self::Set(arrivals, _) => arrivals.waker(),
        }
    }
}

/// The value, in the type that the callback was made for.
fn typed<T: Message>(value: Arguments) -> T {
    value.take().expect("a value is decoded when it comes")
}

fn value_or_panic<T: Message>(value: Result<Arguments, Box<str>>) -> T {
    typed(value.unwrap_or_else(|cause| panics::raise(cause.into())))
}

impl<T> Future<T> {
    /// Whether the value has not come: who is to bring it still has the slot.
    pub(super) fn is_open(&self) -> bool {
        Rc::strong_count(&self.slot) > 1
    }

    /// Whether the value is there, so that awaiting it does not wait.
    pub fn is_ready(&self) -> bool {
        self.slot.borrow().value.is_some()
    }
}

impl<T: Message> Future<T> {
    /// Waits for the value, or for the news that none will come: the entry that was asked panicked and its chare outlives that
    /// (`#[chare(on_panic = answer)]`), or the chare was destroyed before the entry returned.
    ///
    /// # Errors
    /// Why there is no value, in words that name the chare and the entry.
    pub async fn checked(self) -> Result<T, NoAnswer> {
        let value = poll_fn(|context| self.poll_value(context)).await;
        value.map(typed).map_err(|cause| NoAnswer::Failed(cause.into()))
    }

    /// Tells a set, in which the future has this number, when the value has come, or at once.
    pub(super) fn arrive_at(&self, arrivals: &Rc<Arrivals>, number: usize) {
        if self.is_ready() {
            arrivals.add(number);
        } else {
            self.slot.borrow_mut().waiter = Waiter::Set(Rc::clone(arrivals), number);
        }
    }

    /// Takes the value that has come, if one has.
    ///
    /// # Panics
    /// If none will come, for this reason.
    pub(super) fn take_value(&self) -> Option<T> {
        self.slot.borrow_mut().value.take().map(value_or_panic)
    }

    fn poll_value(&self, context: &Context<'_>) -> Poll<Result<Arguments, Box<str>>> {
        let mut slot = self.slot.borrow_mut();
        let value = slot.value.take();
        if value.is_none() {
            slot.waiter = Waiter::Task(context.waker().clone());
        }
        value.map_or(Poll::Pending, Poll::Ready)
    }
}

impl<T: Message> std::future::Future for Future<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        self.poll_value(context).map(value_or_panic)
    }
}

/// The numbers of the futures whose values have come, and the task that waits for one.
#[derive(Default)]
pub(super) struct Arrivals {
    numbers: RefCell<VecDeque<usize>>,
    waker: RefCell<Option<Waker>>,
}

impl Arrivals {
    /// Adds the number of a future whose value has come, and wakes the task.
    pub(super) fn add(&self, number: usize) {
        self.numbers.borrow_mut().push_back(number);
        let waker = self.waker.borrow_mut().take();
        waker.inspect(Waker::wake_by_ref);
    }

    /// Takes the number that was added first.
    pub(super) fn take(&self) -> Option<usize> {
        self.numbers.borrow_mut().pop_front()
    }

    /// Has a task woken when the next number is added.
    pub(super) fn wake(&self, waker: &Waker) {
        *self.waker.borrow_mut() = Some(waker.clone());
    }

    /// The address of the waker of the task that waits.
    pub(super) fn waker(&self) -> Option<*const ()> {
        self.waker.borrow().as_ref().map(Waker::data)
    }
}
