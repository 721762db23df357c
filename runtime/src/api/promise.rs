//! Promises of entries that return something: such an entry owes its caller a value, or the news that none will come.
//!
//! A chare that is destroyed takes its waiting entries with it, and a chare may outlive a panic of its entry. A caller that awaits the
//! result of such an entry must not wait for ever, so the promise is broken aloud: the caller's future panics when it is awaited, or is an
//! error if it is `checked`. Where the value was to go anywhere else than to a future, the job ends.

use crate::base::panics;
use crate::delivery::outbox;
use crate::model::arguments::Message;
use crate::model::call_options::CallOptions;
use crate::model::callback::Goal;
use crate::model::envelope::{Body, Envelope};
use crate::model::registry::OnPanic;
use crate::model::reply::Reply;
use crate::pe::Pe;
use crate::pe::running::Running;

/// A value of type `T` owed by the entry that it names.
pub(crate) struct Promise<T> {
    /// `None` once it is kept.
    to: Option<Reply<T>>,
    by: Running,
}

impl<T> Promise<T> {
    /// The promise of the running entry.
    pub(crate) fn of_running(to: Reply<T>) -> Self {
        Self { to: Some(to), by: Pe::current(|pe| pe.running()) }
    }

    /// Withdraws the promise: somebody else has made it, too.
    pub(crate) fn withdraw(mut self) {
        self.to = None;
    }

    /// Keeps the promise: sends the value.
    pub(crate) fn keep(mut self, value: T)
    where
        T: Message,
    {
        if let Some(to) = self.to.take() {
            to.send(value);
        }
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        let Some(to) = self.to.take() else { return };
        let panic = std::thread::panicking().then(panics::unwinding);
        let goes_on = self.by.chare.as_ref().is_some_and(|chare| chare.on_panic() != OnPanic::End);
        // The end of a job, for whatever reason, breaks no promises.
        if panic.is_none() || goes_on {
            Pe::try_current(|pe| {
                if !pe.node.has_ended() {
                    self.break_on(pe, to.callback().goal, panic);
                }
            });
        }
    }
}

/// Why an entry returns nothing that has not begun.
const LATE: &str = "its deadline was over before its turn came; give it more time, or its chare less to do";

/// Why an entry that waits returns nothing.
const GONE: &str = "the chare was destroyed before, or made anew after a panic; let its entries return first";

impl<T> Promise<T> {
    fn break_on(&self, pe: &Pe, to: Goal, panic: Option<String>) {
        let cause = || {
            let unasked = if self.by.is_late() { LATE } else { GONE };
            let why = panic.map_or_else(|| unasked.to_owned(), |panic| format!("it panicked: {panic}"));
            format!("{} returns nothing: {why}", self.by.describe())
        };
        match to {
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
