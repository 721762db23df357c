//! Callbacks in programs: made of closures of this PE, and sent values.

use crate::delivery::fire::{fire, fire_with};
use crate::model::arguments::{Arguments, Message};
use crate::model::call_options::CallOptions;
use crate::model::callback::{Callback, Goal};
use crate::model::reply::Reply;
use crate::pe::Pe;

impl<T: Message> Callback<T> {
    /// A callback that runs a closure on this PE with the first value sent to it, from anywhere; later values are dropped. Costs one
    /// small allocation.
    ///
    /// ```
    /// let code = chare::Job::in_process(1, 1).run(|| async {
    ///     let answer = chare::Callback::once(|number: u32| chare::exit(number as i32));
    ///     answer.send(3);
    /// });
    /// assert_eq!(code.unwrap(), 3);
    /// ```
    pub fn once(body: impl FnOnce(T) + 'static) -> Self {
        Pe::current(|pe| Self::new(Goal::Resolve(pe.futures.borrow_mut().add_once(pe.id, body))))
    }

    /// A callback that runs a closure on this PE with each value sent to it, from anywhere. The closure stays until the job ends, so make
    /// the callback once and not for every call.
    pub fn each(body: impl FnMut(T) + 'static) -> Self {
        Pe::current(|pe| Self::new(Goal::Resolve(pe.futures.borrow_mut().add_each(pe.id, body))))
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
