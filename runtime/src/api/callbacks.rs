//! Callbacks in programs: made of closures of this PE, and sent values.

use crate::base::panics;
use crate::delivery::fire::{fire, fire_with};
use crate::delivery::outliving::outlive;
use crate::model::arguments::{Arguments, Message};
use crate::model::call_options::CallOptions;
use crate::model::callback::{Callback, Goal};
use crate::model::error::JobError;
use crate::model::registry::{AnyChare, OnPanic};
use crate::model::reply::Reply;
use crate::pe::Pe;
use crate::pe::running::Running;
use chare_lrts::events;
use std::rc::{Rc, Weak};

/// What follows from a panic of a closure: that which a panic of the entry would bring that has made it.
struct Guard {
    /// The chare, if it outlives panics, and its entry; the chare may be gone when the closure runs.
    maker: Option<(Weak<dyn AnyChare>, &'static str)>,
}

impl Guard {
    fn of_running(pe: &Pe) -> Self {
        let Running { chare, entry, .. } = pe.running();
        let outliving = chare.filter(|chare| chare.on_panic() != OnPanic::End);
        Self { maker: outliving.map(|chare| (Rc::downgrade(&chare), entry)) }
    }

    fn run(&self, body: impl FnOnce()) {
        let Some((chare, entry)) = &self.maker else { return body() };
        let Err(cause) = panics::catch(body) else { return };
        Pe::current(|pe| {
            pe.leave_inside(0);
            let cause = format!("in a closure of a callback that it made: {cause}");
            match chare.upgrade().filter(|chare| !chare.identity().is_gone()) {
                Some(chare) => outlive(pe, &chare, entry, cause),
                None => {
                    let what = format!("{entry} of a chare that is gone");
                    events::warn(JobError::Panic { what, pe: pe.id, node: pe.node.id, cause });
                }
            }
        });
    }
}

impl<T: Message> Callback<T> {
    /// A callback that runs a closure on this PE with the first value sent to it, from anywhere; later values are dropped. Costs one
    /// small allocation. A panic of the closure is one of the running entry: what follows says the chare's `on_panic`.
    ///
    /// ```
    /// let code = chare::Job::in_process(1, 1).run(|| async {
    ///     let answer = chare::Callback::once(|number: u32| chare::exit(number as i32));
    ///     answer.send(3);
    /// });
    /// assert_eq!(code.unwrap(), 3);
    /// ```
    pub fn once(body: impl FnOnce(T) + 'static) -> Self {
        Pe::current(|pe| {
            let guard = Guard::of_running(pe);
            let body = move |value| guard.run(|| body(value));
            Self::new(Goal::Resolve(pe.futures.borrow_mut().add_once(pe.id, body)))
        })
    }

    /// A callback that runs a closure on this PE with each value sent to it, from anywhere. The closure stays until the job ends, so make
    /// the callback once and not for every call.
    pub fn each(mut body: impl FnMut(T) + 'static) -> Self {
        Pe::current(|pe| {
            let guard = Guard::of_running(pe);
            let body = move |value| guard.run(|| body(value));
            Self::new(Goal::Resolve(pe.futures.borrow_mut().add_each(pe.id, body)))
        })
    }

    /// Sends the value where the callback leads. One message, or none for `ignore`.
    pub fn send(&self, value: T) {
        Pe::current(|pe| fire(pe, self.erase(), Arguments::new(value)));
    }

    /// Sends the value as [`Callback::send`] does; the message is queued by `options` instead of the entry's own.
    pub fn send_with(&self, options: CallOptions, value: T) {
        Pe::current(|pe| fire_with(pe, self.erase(), Arguments::new(value), Some(options)));
    }
}

impl<T: Message> Reply<T> {
    /// Sends the answer. One message, or none for [`Callback::ignore`].
    pub fn send(self, answer: T) {
        Pe::current(|pe| fire(pe, self.callback(), Arguments::new(answer)));
    }
}
