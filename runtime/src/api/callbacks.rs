//! Callbacks in the hands of a program: closures of this PE made into one, and values sent where one leads.

use crate::delivery::fire::{fire, fire_with};
use crate::model::arguments::{Arguments, Message};
use crate::model::call_options::CallOptions;
use crate::model::callback::{Callback, Goal};
use crate::pe::Pe;

impl<T: Message> Callback<T> {
    /// Runs a closure on this PE with the first value that is sent, from anywhere; later ones are dropped. Costs one small allocation.
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

    /// Runs a closure on this PE with each value that is sent, from anywhere. The closure stays until the job ends, so make it once
    /// and not for every call.
    pub fn each(body: impl FnMut(T) + 'static) -> Self {
        Pe::current(|pe| Self::new(Goal::Resolve(pe.futures.borrow_mut().add_each(pe.id, body))))
    }

    /// Sends the value where the callback leads. One message, or none for `ignore`.
    pub fn send(&self, value: T) {
        Pe::current(|pe| fire(pe, self.erase(), Arguments::new(value)));
    }

    /// The same; the message is queued by `options` instead of the entry's own.
    pub fn send_with(&self, options: CallOptions, value: T) {
        Pe::current(|pe| fire_with(pe, self.erase(), Arguments::new(value), Some(options)));
    }
}
