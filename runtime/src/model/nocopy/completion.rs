//! Completions of transfers: callbacks that receive the outcome on the side that started the transfer.

use crate::model::arguments::{Arguments, Message};
use crate::model::callback::{Callback, ErasedCallback};
use std::fmt;

/// A callback for the end of a transfer, perhaps with a value of the user's that comes back beside the outcome.
///
/// Made from a [`Callback`], or by [`Callback::carrying`].
pub struct Completion<V>(Form<V>);

enum Form<V> {
    Plain(Callback<V>),
    Carrying(Box<dyn FnOnce(V) -> (ErasedCallback, Arguments) + Send>),
}

impl<V: Message> Completion<V> {
    /// The callback and the arguments that it is sent.
    pub(crate) fn finish(self, outcome: V) -> (ErasedCallback, Arguments) {
        match self.0 {
            Form::Plain(callback) => (callback.erase(), Arguments::new(outcome)),
            Form::Carrying(finish) => finish(outcome),
        }
    }
}

impl<V: Message> From<Callback<V>> for Completion<V> {
    fn from(callback: Callback<V>) -> Self {
        Self(Form::Plain(callback))
    }
}

impl<V> fmt::Debug for Completion<V> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Plain(callback) => write!(out, "Completion({callback:?})"),
            Form::Carrying(_) => out.write_str("Completion(carrying a value)"),
        }
    }
}

impl<V: Message, D: Message> Callback<(V, D)> {
    /// This callback for the end of one transfer: it receives the outcome, and `data` beside it. The data stay on this node
    /// until then. One small allocation.
    ///
    /// ```
    /// use chare::prelude::*;
    /// use chare::{RegisteredSource, rget};
    ///
    /// let code = chare::Job::in_process(1, 1).run(|| async {
    ///     let source = RegisteredSource::register(vec![1u8, 2, 3]);
    ///     let (filled, done) = chare::future::<(BufferMut<u8>, String)>();
    ///     rget(&source.handle(), vec![0; 3], done.carrying("the first".to_owned())).expect("it fits");
    ///     let (buffer, which) = filled.await;
    ///     assert_eq!((&buffer[..], &*which), (&[1, 2, 3][..], "the first"));
    /// });
    /// assert_eq!(code.unwrap(), 0);
    /// ```
    pub fn carrying(self, data: D) -> Completion<V> {
        let finish = move |outcome| (self.erase(), Arguments::new((outcome, data)));
        Completion(Form::Carrying(Box::new(finish)))
    }
}
