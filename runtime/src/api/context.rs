//! Functions for entry methods: the PE and node of the caller, its dice, callbacks, futures, readonly values, names of proxies, and the end
//! of a chare or of the job and requests for it.

use crate::model::arguments::Message;
use crate::model::callback::{Callback, Goal};
use crate::model::error::NameError;
use crate::model::ids::{NodeId, PeId, Target};
use crate::model::reply::Reply;
use crate::pe::Pe;
use crate::pe::futures::Future;
use crate::services::names::{self, Named};
use crate::services::quiescence::Asker;
use crate::services::{aggregation, quiescence as detection, readonly as values, shutdown};
use chare_lrts::codec;
use rand::TryRng;
use std::any::type_name;
use std::convert::Infallible;
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

/// Chance for entries, made by [`dice`]: numbers of its own, and those of all distributions of the crate `rand` 0.10, whose generator it is.
#[derive(Clone, Copy, Debug)]
pub struct Dice(());

/// The dice of the PE that runs: the machine's chance in a real job, and what the seed says in a simulated one, where every run with the
/// same seed draws the same.
///
/// ```
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     assert!(chare::dice().below(6) < 6);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
pub fn dice() -> Dice {
    Dice(())
}

impl Dice {
    /// Draws a number.
    pub fn draw(self) -> u64 {
        chare_lrts::dice::draw()
    }

    /// Draws a number below `n`, each as likely as any other.
    ///
    /// # Panics
    /// If `n` is zero.
    pub fn below(self, n: u64) -> u64 {
        chare_lrts::dice::below(n)
    }
}

impl TryRng for Dice {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.draw() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.draw())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.draw().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

/// The number of PEs of the job.
pub fn pes() -> u32 {
    Pe::current(|pe| pe.node.topology.pes())
}

/// The number of nodes of the job.
pub fn nodes() -> u32 {
    Pe::current(|pe| pe.node.topology.nodes())
}

/// The paths from the caller's node to another, in words for humans: the path of messages, and the path of memory.
///
/// # Panics
/// If the job has no such node.
pub fn path_to(node: NodeId) -> String {
    Pe::current(|pe| {
        assert!(
            node.0 < pe.node.topology.nodes(),
            "there is no {node}: the job has {} nodes",
            pe.node.topology.nodes()
        );
        pe.node.network.path(node)
    })
}

/// The reference number of the callback that led to the running entry; 0 if no callback did.
pub fn reference() -> u64 {
    Pe::current(|pe| pe.running().reference)
}

/// Ends the job, on all nodes, with an exit code; the current entry runs to its end. The first call decides the code.
pub fn exit(code: i32) {
    Pe::current(|pe| pe.node.exit(code));
}

/// Waits until somebody asks for the job's end: for the first SIGINT or SIGTERM that any process of the job gets, from a terminal, a launcher
/// or a batch system. Once this was called, that signal no longer ends the job: the program does, by [`exit`] or by the end of `main`, when
/// it has done what it began. A second signal, half a second later or more, ends the process that gets it.
///
/// It holds from the call on, on node 0; other nodes tell node 0 by a message. Quiescence does not wait for it, and neither does the end of
/// the job. Costs a thread of node 0, which sleeps, and a message to each node when the signal comes. A signal that the program ignores is
/// not heard (as SIGHUP under `nohup`), and one that it has a handler for goes there as well. The future may be sent to other threads.
///
/// ```
/// use std::time::Duration;
///
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     let asked = chare::shutdown_requested();
///     // A service would serve until then.
///     assert!(chare::timeout(Duration::from_millis(5), asked).await.is_err(), "nobody has asked");
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
pub fn shutdown_requested() -> impl std::future::Future<Output = ()> + Send + use<> {
    let mut came = Pe::current(|pe| shutdown::ask(&pe.node));
    async move {
        if came.wait_for(|came| *came).await.is_err() {
            // The job is over here, and nobody is left to ask for its end.
            std::future::pending::<()>().await;
        }
    }
}

/// A future on this PE and the callback that resolves it, once, from anywhere. Costs one small allocation.
pub fn future<T: Message>() -> (Future<T>, Callback<T>) {
    Pe::current(|pe| {
        let (future, id) = pe.futures.borrow_mut().create(pe.id);
        (future, Callback::new(Goal::Resolve(id)))
    })
}

/// The future of an answer, on this PE, and the address that the asked entry sends it to.
pub fn ask<T: Message>() -> (Future<T>, Reply<T>) {
    Pe::current(|pe| {
        let (future, id) = pe.futures.borrow_mut().create(pe.id);
        (future, Reply::to_future(id))
    })
}

/// Calls back when no message is in flight and no entry runs, anywhere. Zero-copy transfers, wake-ups of async entries and who
/// [sleeps](crate::sleep()) count as messages; the limit that a [`timeout`](crate::timeout()) sets to a wait does not.
pub fn on_quiescence(callback: Callback<()>) {
    Pe::current(|pe| detection::request(pe, Asker::Program, callback.erase()));
}

/// Waits for quiescence; see [`on_quiescence`].
pub fn quiescence() -> Future<()> {
    let (future, callback) = future();
    on_quiescence(callback);
    future
}

/// Waits for quiescence in which no limit of a wait runs, either: then nothing more will happen.
pub(crate) async fn all_over() {
    let (over, callback) = future::<()>();
    Pe::current(|pe| detection::request(pe, Asker::End, callback.erase()));
    over.await;
}

/// Registers a proxy by a name, by which [`named`] finds it from anywhere in the job: so that parts of a program need not be handed each
/// other's proxies. The first who registers a name has it until the job is over. The future may be dropped, if nobody cares whether the
/// name was free.
///
/// Costs a message to the PE that keeps the name, which the name's hash says, and one back. Registered is a copy of the proxy: of a chare
/// that is destroyed, too. Any value of up to 64 KiB does for a proxy.
///
/// ```
/// use chare::prelude::*;
///
/// struct Accounts;
///
/// #[chare]
/// impl Accounts {
///     #[entry]
///     fn new() -> Self {
///         Self
///     }
///
///     #[entry]
///     fn balance(&mut self) -> i64 {
///         17
///     }
/// }
///
/// let code = chare::Job::in_process(2, 2).run(|| async {
///     chare::register("accounts", &AccountsProxy::create()).await.expect("the name is free");
///     // Anywhere else:
///     let accounts = chare::named::<AccountsProxy>("accounts").await.expect("it is registered");
///     assert_eq!(accounts.balance().await, 17);
///     assert!(chare::named::<u64>("accounts").await.is_err(), "it is no number");
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// # Errors
/// [`NameError::Taken`], also if it is the same proxy, and [`NameError::NoRoom`].
///
/// # Panics
/// If the value refuses to be encoded.
pub fn register<P: Message>(name: &str, proxy: &P) -> Future<Result<(), NameError>> {
    let mut bytes = Vec::new();
    codec::encode_into(proxy, &mut bytes)
        .unwrap_or_else(|error| panic!("what is to be named {name:?} cannot be sent: {error}"));
    let (registered, told) = future();
    let value = Named { what: type_name::<P>().to_owned(), bytes };
    Pe::current(|pe| names::register(pe, name.to_owned(), value, told.erase()));
    registered
}

/// Finds the proxy that is [registered](register) by a name. Costs a message to the PE that keeps the name, and one back: keep what it
/// finds. It does not wait for a name that comes later.
///
/// # Errors
/// [`NameError::Unknown`], [`NameError::OtherType`] if it is another type's, and [`NameError::Undecodable`].
pub async fn named<P: Message>(name: &str) -> Result<P, NameError> {
    let (found, told) = future::<Option<Named>>();
    Pe::current(|pe| names::find(pe, name.to_owned(), told.erase()));
    let Named { what, bytes } = found.await.ok_or_else(|| NameError::Unknown { name: name.to_owned() })?;
    let (name, wanted) = (name.to_owned(), type_name::<P>());
    if what != wanted {
        return Err(NameError::OtherType { name, what, wanted: wanted.to_owned() });
    }
    codec::decode(&bytes).map_err(|error| NameError::Undecodable { name, what, cause: error.to_string() })
}

/// Sets a readonly value, which every PE reads by its type; only in `main`, before its first `.await`, and before it has sent so much that
/// it is held back: then entries run, which may read the values. That takes megabytes of messages.
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
/// After the first `.await` of `main` or after `main` was held back, or if the type has a value already.
pub fn set_readonly<T: Message + Sync>(value: T) {
    Pe::current(|pe| {
        assert!(
            !pe.node.is_open(),
            "readonly values are set in `main`, before its first `.await` and before it sends more than the other PEs take"
        );
        values::values(&pe.node).set(value);
    });
}

/// Reads a readonly value.
///
/// # Panics
/// If no value of this type was set.
#[track_caller]
pub fn readonly<T: Message + Sync>() -> Arc<T> {
    let name = std::any::type_name::<T>();
    match Pe::current(|pe| values::values(&pe.node).read::<T>()) {
        Some(Ok(value)) => value,
        Some(Err(error)) => panic!("the readonly value `{name}` does not decode: {error}"),
        None => panic!("no readonly value of type `{name}` was set; call `set_readonly` in `main`"),
    }
}

/// Asks for the removal of the running chare, a singleton or an element of an array, when its entry ends or, if the entry is `async`,
/// next waits. `async` entries of the chare that wait are dropped with it, and so are the calls that they would have awaited; awaiting a
/// result of such an entry panics. A later call of the chare ends the job with an error. A later call of an element of a dynamic array
/// waits until the element is inserted again, or until `done_inserting` says that it will not be: then the call ends the job, too. An
/// array into which no element can come has ended with its last element: all that is kept of it is forgotten.
///
/// # Panics
/// Outside the entries of such a chare: members of groups and nodegroups go together, by `destroy` of the group's proxy.
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
                "{} is a group or nodegroup, whose members go together, by `destroy` of its proxy",
                identity.name()
            );
        });
        pe.destroyed.set(true);
    });
}

/// Sends the calls of entries marked `#[entry(aggregate)]` that the caller's PE has collected, instead of waiting for more of them. One
/// message for each buffer that holds calls.
///
/// A PE does so by itself before it rests; an entry that goes on for long calls this when others are to see its calls.
///
/// # Panics
/// Outside a job's entries.
pub fn flush_aggregated() {
    Pe::current(|pe| aggregation::flush(pe));
}
