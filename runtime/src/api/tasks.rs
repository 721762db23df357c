//! Tasks of `async` entries: started by the code that `#[chare]` generates.

use super::promise::Promise;
use super::proxy::ElementHandle;
use crate::model::arguments::Message;
use crate::model::callback::Callback;
use crate::model::registry::EntryMethod;
use crate::pe::Pe;

/// Starts an `async` entry: it runs at once, until it has to wait.
pub fn spawn(body: impl Future<Output = ()> + 'static) {
    Pe::current(|pe| {
        let key = pe.add_task(pe.running(), body);
        pe.tasks.poll(key);
    });
}

/// Starts an `async` entry that returns something, which `reply` receives.
pub fn spawn_replying<T: Message>(body: impl Future<Output = T> + 'static, reply: Callback<T>) {
    let promise = Promise::of_running(reply);
    spawn(async move { promise.keep(body.await) });
}

/// Calls the running entry of the running chare again.
pub fn call_again<E: EntryMethod<Arguments = ()>>() {
    ElementHandle::of_running().call::<E>(());
}
