//! What an `async` entry owes that returns something: a value, or the news that there will be none.
//!
//! A chare that is destroyed takes its waiting entries with it. Whoever awaits what one of them was to return must not wait for ever, so
//! the promise is broken aloud: the future panics when it is awaited. Where the value was to go anywhere else, the job ends.

use crate::delivery::outbox;
use crate::model::arguments::Message;
use crate::model::call_options::CallOptions;
use crate::model::callback::{Callback, Goal};
use crate::model::envelope::{Body, Envelope};
use crate::pe::Pe;
use crate::pe::running::Running;

/// A value of type `T` owed to a callback by the entry that it names.
pub(crate) struct Promise<T> {
    to: Callback<T>,
    by: Running,
}

impl<T> Promise<T> {
    /// What the running entry owes.
    pub(crate) fn of_running(to: Callback<T>) -> Self {
        Self { to, by: Pe::current(|pe| pe.running()) }
    }

    /// Owed no more.
    pub(crate) fn keep(mut self, value: T)
    where
        T: Message,
    {
        std::mem::replace(&mut self.to, Callback::ignore()).send(value);
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        // What ends a job, for whatever reason, breaks no promises.
        if !std::thread::panicking() {
            Pe::try_current(|pe| {
                if !pe.node.has_ended() {
                    self.break_on(pe);
                }
            });
        }
    }
}

impl<T> Promise<T> {
    fn break_on(&self, pe: &Pe) {
        let cause = || {
            format!(
                "{} returns nothing: the chare was destroyed before; let its entries return first",
                self.by.describe()
            )
        };
        match self.to.erase().goal {
            Goal::Ignore => {}
            Goal::Resolve(future) => {
                let body = Body::Broken { future, cause: cause().into() };
                outbox::send(pe, future.pe, Envelope { options: CallOptions::new(), body });
            }
            Goal::Exit | Goal::Call { .. } | Goal::Many { .. } => {
                pe.fail("a callback".to_owned(), cause());
            }
        }
    }
}
