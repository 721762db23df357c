//! What an entry method can ask of the runtime without naming it: where am I, callbacks, futures, exit.

use crate::broadcast;
use crate::call::Call;
use crate::callback::{Callback, ErasedCallback, Goal};
use crate::envelope::{self, Body, Broadcast, Envelope};
use crate::error::JobError;
use crate::future::Future;
use crate::ids::{EntryId, NodeId, PeId, Target};
use crate::message::{Arguments, Message};
use crate::outbox;
use crate::pe::Pe;
use crate::queue::CallOptions;
use crate::quiescence::{COORDINATOR, Wave};
use crate::registry::EntryRegistration;
use crate::section::{self, SectionCall};
use crate::zerocopy::{BufferMut, Element};
use std::sync::Arc;

/// The PE that runs the caller.
///
/// # Panics
/// Outside a job's entries, as all functions here do.
pub fn my_pe() -> PeId {
    Pe::current(|pe| pe.id)
}

/// The node that runs the caller.
pub fn my_node() -> NodeId {
    Pe::current(|pe| pe.node.id)
}

/// How many PEs the job has.
pub fn pes() -> u32 {
    Pe::current(|pe| pe.node.layout.pes())
}

/// How many nodes the job has.
pub fn nodes() -> u32 {
    Pe::current(|pe| pe.node.layout.nodes())
}

/// The paths from the caller's node to another, in words for humans: what carries messages, what carries memory.
///
/// # Panics
/// If the job has no such node.
pub fn path_to(node: NodeId) -> String {
    Pe::current(|pe| {
        assert!(
            node.0 < pe.node.layout.nodes(),
            "there is no {node}: the job has {} nodes",
            pe.node.layout.nodes()
        );
        pe.node.network.path(node)
    })
}

/// The reference number of the callback that led to the running entry; 0 if none did.
pub fn reference() -> u64 {
    Pe::current(|pe| pe.running().reference)
}

/// Ends the job, on all nodes, with an exit code; the current entry runs to its end. The first call counts.
pub fn exit(code: i32) {
    Pe::current(|pe| pe.node.exit(code));
}

/// A future on this PE and the callback that resolves it, once, from anywhere. Costs one small allocation.
pub fn future<T: Message>() -> (Future<T>, Callback<T>) {
    Pe::current(|pe| {
        let (future, id) = pe.futures.borrow_mut().create(pe.id);
        (future, Callback::new(Goal::Resolve(id)))
    })
}

/// Calls back when no message is in flight and no entry runs, anywhere. Zero-copy transfers and
/// wake-ups of async entries count as messages.
pub fn on_quiescence(callback: Callback<()>) {
    Pe::current(|pe| {
        let body = Body::Quiescence(Box::new(Wave::Request { callback: callback.erase() }));
        outbox::send(pe, COORDINATOR, Envelope { options: CallOptions::new(), body });
    });
}

/// Waits for quiescence; see [`on_quiescence`].
pub fn quiescence() -> Future<()> {
    let (future, callback) = future();
    on_quiescence(callback);
    future
}

/// Sets a readonly value, which every PE reads by its type; only in `main`, before its first `.await`.
///
/// ```
/// let code = chare::Job::in_process(2, 1).run(|| async {
///     chare::set_readonly(vec![1.0, 2.0]);
///     assert_eq!(chare::readonly::<Vec<f64>>().len(), 2);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// # Panics
/// Later, or if the type has a value already.
pub fn set_readonly<T: Message + Sync>(value: T) {
    Pe::current(|pe| {
        assert!(!pe.node.is_open(), "readonly values are set in `main`, before its first `.await`");
        pe.node.readonly.set(value);
    });
}

/// Reads a readonly value.
///
/// # Panics
/// If none of this type was set.
pub fn readonly<T: Message + Sync>() -> Arc<T> {
    let name = std::any::type_name::<T>();
    match Pe::current(|pe| pe.node.readonly.read::<T>()) {
        Some(Ok(value)) => value,
        Some(Err(error)) => panic!("the readonly value `{name}` does not decode: {error}"),
        None => panic!("no readonly value of type `{name}` was set; call `set_readonly` in `main`"),
    }
}

/// Asks for the removal of the running chare when its entry ends, or an `async` one next waits: a singleton or an element of an array.
/// Its `async` entries that wait are dropped with it, and so are the calls that they would have awaited; who awaits a result of
/// theirs panics. A later call of it ends the job with an error; of an element of a dynamic array, it waits until the element
/// is inserted again, or until `done_inserting` says that it will not be: then it ends the job, too.
///
/// # Panics
/// Outside the entries of such a chare: members of groups and nodegroups stay as long as their job.
pub fn destroy() {
    Pe::current(|pe| {
        pe.with_running(|identity| {
            let may_go = match identity.target {
                Target::Chare(_) => true,
                Target::Member(id, _) => {
                    pe.places.borrow().collection(id).is_some_and(|collection| collection.info.is_array())
                }
            };
            assert!(
                may_go,
                "{} is a group or nodegroup, whose members stay as long as their job",
                identity.name
            );
        });
        pe.destroyed.set(true);
    });
}

impl<T: Element> BufferMut<T> {
    /// `len` zeros in memory of the runtime: on a PE with neighbours on its host in memory that they can map, so that
    /// sending it to them copies nothing.
    pub fn zeroed(len: usize) -> Self {
        let bytes = len.checked_mul(size_of::<T>()).expect("a buffer fits the address space");
        let memory = Pe::try_current(|pe| pe.node.network.allocate(bytes));
        match memory.map(Self::from_memory) {
            Some(Ok(mut buffer)) => {
                buffer.fill(T::zeroed());
                buffer
            }
            _ => vec![T::zeroed(); len].into(),
        }
    }

    /// `len` elements made by `make` from their position, in memory as by [`BufferMut::zeroed`].
    pub fn from_fn(len: usize, mut make: impl FnMut(usize) -> T) -> Self {
        let mut buffer = Self::zeroed(len);
        buffer.iter_mut().enumerate().for_each(|(position, element)| *element = make(position));
        buffer
    }
}

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

/// Sends a value where a callback leads.
pub(crate) fn fire(pe: &Pe, callback: ErasedCallback, value: Arguments) {
    fire_with(pe, callback, value, None);
}

fn fire_with(pe: &Pe, callback: ErasedCallback, value: Arguments, options: Option<CallOptions>) {
    let fail = |cause| {
        let what = "a callback".to_owned();
        pe.node.fail(JobError::Delivery { what, pe: pe.id, node: pe.node.id, cause });
    };
    match callback.goal {
        Goal::Ignore => {}
        Goal::Exit => pe.node.exit(0),
        Goal::Resolve(future) => {
            let body = Body::Resolve { future, value };
            outbox::send(pe, future.pe, Envelope { options: options.unwrap_or_default(), body });
        }
        Goal::Call { target, entry } => match typed(entry, value) {
            Ok((entry, arguments)) => {
                let (from, reference) = (pe.id, callback.reference);
                let make = || Call { target, from, entry, arguments, nocopy: None, reference };
                outbox::send_call(pe, options.as_ref().unwrap_or(&entry.options), &target, make);
            }
            Err(cause) => fail(cause),
        },
        Goal::Section { section, entry } => match typed(entry, value) {
            Ok((entry, arguments)) => {
                let (nocopy, reference) = (Vec::new(), callback.reference);
                let options = options.unwrap_or_else(|| entry.options.clone());
                section::call(pe, options, SectionCall { section, entry, arguments, nocopy, reference });
            }
            Err(cause) => fail(cause),
        },
        Goal::Broadcast { collection, entry } => match typed(entry, value) {
            Ok((entry, arguments)) => {
                let reference = callback.reference;
                let broadcast = Broadcast { collection, entry, arguments, nocopy: Vec::new(), reference };
                broadcast::call_all(pe, options.unwrap_or_else(|| entry.options.clone()), broadcast);
            }
            Err(cause) => fail(cause),
        },
    }
}

/// A reduction's result from other nodes alone is encoded; its entry knows the type.
fn typed(entry: EntryId, value: Arguments) -> Result<(&'static EntryRegistration, Arguments), String> {
    let entry = envelope::find_entry(entry)?;
    match value.as_encoded() {
        Some(bytes) => (entry.decode)(bytes).map(|value| (entry, value)).map_err(|error| error.to_string()),
        None => Ok((entry, value)),
    }
}
