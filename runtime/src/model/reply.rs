//! Replies: addresses of the answers that entries owe their callers, each no larger than the future that nearly always waits there.

use crate::model::callback::{Callback, ErasedCallback, FutureId, Goal};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

/// The destination of what an entry returns: the last argument of each entry that returns something. A call makes it of the future that
/// it returns; whoever awaits the entry gets it beside the other arguments and [sends](Reply::send) the answer; whoever fires the entry's
/// own callback makes it of any [`Callback`]:
///
/// ```
/// use chare::prelude::*;
/// use chare::Reply;
///
/// struct Doubler;
///
/// #[chare]
/// impl Doubler {
///     #[entry]
///     fn new() -> Self {
///         Self
///     }
///
///     #[entry]
///     fn double(&mut self, number: u32) -> u32 {
///         2 * number
///     }
/// }
///
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     let (answer, callback) = chare::future();
///     let double: Callback<(u32, Reply<u32>)> = DoublerProxy::create().double_callback();
///     double.send((21, callback.into()));
///     assert_eq!(answer.await, 42);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// Takes 16 bytes, where a callback takes 56, so that an ask with a number or two needs no memory beside its message. What leads
/// elsewhere than to a future costs an allocation.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Reply<T> {
    to: Address,
    value: PhantomData<fn(T)>,
}

#[derive(Clone, Serialize, Deserialize)]
enum Address {
    Future(FutureId),
    Other(Box<ErasedCallback>),
}

impl<T> Reply<T> {
    pub(crate) fn to_future(future: FutureId) -> Self {
        Self { to: Address::Future(future), value: PhantomData }
    }

    pub(crate) fn callback(&self) -> ErasedCallback {
        match &self.to {
            Address::Future(future) => ErasedCallback { goal: Goal::Resolve(*future), reference: 0 },
            Address::Other(callback) => **callback,
        }
    }
}

impl<T> From<Callback<T>> for Reply<T> {
    fn from(callback: Callback<T>) -> Self {
        let to = match callback.erase() {
            ErasedCallback { goal: Goal::Resolve(future), reference: 0 } => Address::Future(future),
            other => Address::Other(Box::new(other)),
        };
        Self { to, value: PhantomData }
    }
}

impl<T> From<Reply<T>> for Callback<T> {
    fn from(reply: Reply<T>) -> Self {
        Self::of(reply.callback())
    }
}

impl<T> Clone for Reply<T> {
    fn clone(&self) -> Self {
        Self { to: self.to.clone(), value: PhantomData }
    }
}

impl<T> std::fmt::Debug for Reply<T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Reply({:?})", self.callback().goal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::PeId;

    #[test]
    fn a_reply_leads_where_its_callback_led_and_is_small() {
        let future = FutureId { pe: PeId(3), slot: 1, generation: 2 };
        let goals = [Goal::Resolve(future), Goal::Ignore, Goal::Exit];
        for callback in goals.map(Callback::<u64>::new).into_iter().flat_map(|it| [it, it.with_reference(7)])
        {
            let reply = Reply::from(callback);
            assert_eq!(Callback::from(reply.clone()), callback);
            let mut bytes = Vec::new();
            chare_lrts::codec::append(&mut bytes, |out| out.write(&reply)).unwrap();
            let decoded: Reply<u64> = chare_lrts::codec::decode(&bytes).unwrap();
            assert_eq!(decoded.callback(), callback.erase());
        }
        assert_eq!(size_of::<Reply<u64>>(), 16);
    }
}
