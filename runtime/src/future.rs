//! Values that will come: a [`Future`] waits on the PE that made it, its callback travels anywhere.

use crate::callback::FutureId;
use crate::ids::PeId;
use crate::message::{Arguments, Message};
use slab::Slab;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

#[derive(Default)]
struct Slot {
    value: Option<Arguments>,
    waker: Option<Waker>,
}

/// One value that a callback will bring. Await it in an `async` entry or in `main`; it stays on its PE.
///
/// Dropping it unresolved is fine: the value is then dropped when it comes.
///
/// ```
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     let (answer, callback) = chare::future::<u32>();
///     callback.send(42);
///     assert_eq!(answer.await, 42);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
#[must_use = "a future does nothing unless awaited"]
pub struct Future<T> {
    slot: Rc<RefCell<Slot>>,
    value: PhantomData<T>,
}

/// The unresolved futures of one PE.
#[derive(Default)]
pub(crate) struct Futures {
    waiting: Slab<(u32, Rc<RefCell<Slot>>)>,
    created: u32,
}

impl Futures {
    pub(crate) fn create<T>(&mut self, pe: PeId) -> (Future<T>, FutureId) {
        self.created = self.created.wrapping_add(1);
        let slot = Rc::new(RefCell::new(Slot::default()));
        let key = self.waiting.insert((self.created, Rc::clone(&slot)));
        let slot_number = u32::try_from(key).expect("fewer than 2^32 futures wait on one PE");
        (Future { slot, value: PhantomData }, FutureId { pe, slot: slot_number, generation: self.created })
    }

    /// Brings a value. A future that was dropped, or resolved before, takes no more.
    pub(crate) fn resolve(&mut self, id: FutureId, value: Arguments) {
        let key = id.slot as usize;
        if self.waiting.get(key).is_none_or(|(generation, _)| *generation != id.generation) {
            return;
        }
        let (_, slot) = self.waiting.remove(key);
        let waker = {
            let mut slot = slot.borrow_mut();
            slot.value = Some(value);
            slot.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T: Message> std::future::Future for Future<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut slot = self.slot.borrow_mut();
        match slot.value.take() {
            Some(value) => match value.take::<T>() {
                Ok(value) => Poll::Ready(value),
                Err(error) => panic!("a future received a value of another type: {error}"),
            },
            None => {
                slot.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
