//! `Again`: the handle of `async` entries that may be called again from the top, and the waits at which their elements may move.

use super::moving::wish;
use super::promise::Promise;
use super::tasks::outlived;
use crate::model::arguments::{Arguments, Message};
use crate::model::ids::PeId;
use crate::model::registry::{Chare, EntryMethod, Identity, Migrates, OnPanic, Syncs, This, ThisRef, entry};
use crate::model::reply::Reply;
use crate::pe::Pe;
use crate::pe::running::Running;
use crate::services::again::{self, KeptCall, Record};
use crate::services::migration;
use crate::services::sync::{self, GoesOn};
use std::future::{pending, poll_fn};
use std::ops::Deref;
use std::rc::Rc;
use std::task::Poll;

/// A chare seen from an `async` entry of its own that may be *called again*: from the top, with the same arguments, on another PE. A Rust
/// future cannot be moved; a call can.
///
/// Such an entry keeps what it needs in the chare, and nothing in variables that live over a wait of `Again`: [`sync`](Again::sync),
/// [`at_rest`](Again::at_rest), [`movable`](Again::movable) and [`migrate_to`](Again::migrate_to). There its task may be dropped, the
/// element moves, and the entry begins anew where the element lives then, after `#[moved]` and before other calls. At all other waits the
/// entry stays, and with it the element. In all else an `Again` is a [`This`]. Its caller hears the answer once, whoever of the calls gives
/// it.
///
/// An element moves when all of its tasks are at rest in such entries, and nobody holds a [`This`] of it: a clone that lives over a
/// rest, in a task that was spawned or in a variable of the entry itself, keeps the element where it is. A [`Future`](crate::Future) that
/// has no value yet and is dropped with the task ends the job: nobody would hear the answer.
///
/// `+again` ([`Job::again`](crate::Job::again)) begins every such entry anew wherever it might be: what works then can move.
///
/// Costs a copy of the arguments and a few words for each call, and nothing for other entries. The idea is that of Charm++'s `AtSync` and
/// `ResumeFromSync`, whose elements go on from the top, too.
///
/// ```
/// use chare::prelude::*;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Block {
///     step: u32,
///     value: f64,
/// }
///
/// #[chare(array, migrate, sync)]
/// impl Block {
///     #[entry]
///     fn new() -> Self {
///         Self { step: 0, value: chare::this_index::<u64>() as f64 }
///     }
///
///     #[entry(awaited)]
///     fn neighbour(#[reference] step: u32, value: f64);
///
///     /// May be called again from the top: all that the loop needs is in the chare.
///     #[entry]
///     async fn run(this: Again<Self>, until: u32, done: Callback<f64>) {
///         while this.with(|block| block.step) < until {
///             let (step, value) = this.with(|block| (block.step, block.value));
///             this.this_collection().at((this.this_index() + 1) % 8).neighbour(step, value);
///             let (_, other) = this.when(Self::neighbour).reference(step).await;
///             this.with(|block| (block.step, block.value) = (step + 1, (value + other) / 2.0));
///             if step % 10 == 9 {
///                 this.sync().await;
///             }
///         }
///         this.contribute(sum(this.with(|block| block.value)), done);
///     }
/// }
///
/// let job = chare::Job::in_process(1, 2).balancer("rotate").again().run(|| async {
///     let (total, done) = chare::future();
///     BlockProxy::create(8).run(40, done);
///     assert_eq!(total.await, 28.0);
/// });
/// assert_eq!(job.unwrap(), 0);
/// ```
pub struct Again<C: Chare> {
    this: This<C>,
    record: Rc<Record>,
}

/// What came of a sync.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Balanced {
    /// How many syncs are over; 0 where nobody balances.
    pub round: u64,
}

/// A wait of a task in which its element may leave.
struct Rest<'a> {
    record: &'a Rc<Record>,
    /// The element, if the wait is for a sync.
    in_sync: Option<&'a Identity>,
}

impl<'a> Rest<'a> {
    fn begin(record: &'a Rc<Record>, in_sync: Option<&'a Identity>) -> Self {
        record.rest(in_sync.is_some());
        Self { record, in_sync }
    }
}

impl Drop for Rest<'_> {
    fn drop(&mut self) {
        self.record.end_rest();
        let Some(identity) = self.in_sync else { return };
        Pe::try_current(|pe| {
            let over = again::forget_sync(pe, identity.target, self.record);
            // An entry that begins anew does so because the sync is over.
            let over = over.filter(|_| !self.record.is_handed_on() && !identity.is_gone());
            over.inspect(|round| sync::give_up(pe, identity.target, *round));
        });
    }
}

impl<C: Migrates> Again<C> {
    /// Waits for all elements that take part in syncs, so that they may be balanced; see
    /// [`ThisInSyncs::sync_then`](crate::ThisInSyncs::sync_then). An element that stays goes on here; the entry of one that moves begins anew
    /// there, when the sync is over. For an example see [`Again`].
    ///
    /// The wait may be given up, as in a `select!` that another branch wins: the element has come to the sync all the same, and the next
    /// `sync` waits for the same one, or goes on at once if that is over by then. Beside other waits of its `Again` a task cannot wait for a sync:
    /// an entry that begins anew could not tell which of them is over.
    ///
    /// Costs what `sync_then` costs. Without a balancer (`+balancer`) it is no wait.
    ///
    /// # Panics
    /// If the element waits for a sync already, or the task is at another rest.
    pub async fn sync(&self) -> Balanced
    where
        C: Syncs,
    {
        let member = self.identity().target;
        let _rest = Rest::begin(&self.record, Some(self.identity()));
        Pe::current(|pe| {
            again::await_sync(pe, member, &self.record);
            sync::wait(pe, member, GoesOn::Again);
        });
        let round = poll_fn(|context| self.record.poll_sync(context)).await;
        Balanced { round }
    }

    /// Waits for a future, and lets the element move meanwhile: then the future is dropped, and the entry begins anew there. For waits that
    /// lose nothing when they are dropped, above all [`This::when`]: calls that wait go along with the element.
    ///
    /// ```
    /// use chare::prelude::*;
    /// use chare::ThisMigrant;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Server {
    ///     served: u64,
    /// }
    ///
    /// #[chare(array, migrate)]
    /// impl Server {
    ///     #[entry]
    ///     fn new() -> Self {
    ///         Self { served: 0 }
    ///     }
    ///
    ///     #[entry(awaited)]
    ///     fn request(number: u64) -> u64;
    ///
    ///     #[entry]
    ///     async fn serve(this: Again<Self>) {
    ///         loop {
    ///             let (number, reply) = this.at_rest(this.when(Self::request)).await;
    ///             this.with(|server| server.served += 1);
    ///             reply.send(2 * number);
    ///         }
    ///     }
    ///
    ///     #[entry]
    ///     fn go(&mut self, to: PeId) {
    ///         self.migrate_to(to);
    ///     }
    /// }
    ///
    /// let job = chare::Job::in_process(1, 2).run(|| async {
    ///     let server = ServerProxy::create(1).at(0);
    ///     server.serve();
    ///     for number in 0..4 {
    ///         server.go(PeId(number as u32 % 2));
    ///         assert_eq!(server.request(number).await, 2 * number);
    ///     }
    /// });
    /// assert_eq!(job.unwrap(), 0);
    /// ```
    pub async fn at_rest<F: Future>(&self, future: F) -> F::Output {
        let _rest = Rest::begin(&self.record, None);
        self.maybe_anew().await;
        future.await
    }

    /// Lets the element move if it is to: looks once, and goes on at once where no move is wished for. In loops that never wait long.
    ///
    /// ```
    /// use chare::prelude::*;
    /// use chare::ThisMigrant;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Walker {
    ///     steps: u32,
    /// }
    ///
    /// #[chare(array, migrate)]
    /// impl Walker {
    ///     #[entry]
    ///     fn new() -> Self {
    ///         Self { steps: 0 }
    ///     }
    ///
    ///     #[entry]
    ///     async fn walk(this: Again<Self>) -> u32 {
    ///         while this.with(|walker| walker.steps) < 10 {
    ///             this.with(|walker| {
    ///                 walker.steps += 1;
    ///                 ThisMigrant::migrate_to(walker, PeId(walker.steps % chare::pes()));
    ///             });
    ///             this.movable().await;
    ///         }
    ///         chare::my_pe().0
    ///     }
    /// }
    ///
    /// let job = chare::Job::in_process(1, 3).run(|| async {
    ///     assert_eq!(WalkerProxy::create(1).at(0).walk().await, 10 % 3);
    /// });
    /// assert_eq!(job.unwrap(), 0);
    /// ```
    pub async fn movable(&self) {
        let _rest = Rest::begin(&self.record, None);
        self.maybe_anew().await;
        let member = self.identity().target;
        let mut has_looked = !Pe::current(|pe| migration::destination(pe, member).is_some());
        poll_fn(|context| {
            if std::mem::replace(&mut has_looked, true) {
                return Poll::Ready(());
            }
            self.record.await_mover(context);
            Poll::Pending
        })
        .await;
    }

    /// Moves this element: the entry begins anew on that PE. Returns where the element is there already, or stays after all: another wish
    /// has taken this one back. Until all other entries of the element have ended or are at rest, too, it waits.
    ///
    /// ```
    /// use chare::prelude::*;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Walker {
    ///     visited: Vec<u32>,
    /// }
    ///
    /// #[chare(array, migrate)]
    /// impl Walker {
    ///     #[entry]
    ///     fn new() -> Self {
    ///         Self { visited: Vec::new() }
    ///     }
    ///
    ///     #[entry]
    ///     async fn walk(this: Again<Self>) -> Vec<u32> {
    ///         let visited = this.with(|walker| walker.visited.len() as u32);
    ///         if visited < 4 {
    ///             this.with(|walker| walker.visited.push(chare::my_pe().0));
    ///             this.migrate_to(PeId((chare::my_pe().0 + 1) % chare::pes())).await;
    ///         }
    ///         this.with(|walker| walker.visited.clone())
    ///     }
    /// }
    ///
    /// let job = chare::Job::in_process(1, 2).run(|| async {
    ///     assert_eq!(WalkerProxy::create(1).at(0).walk().await.len(), 4);
    /// });
    /// assert_eq!(job.unwrap(), 0);
    /// ```
    ///
    /// # Panics
    /// If the job has no such PE.
    pub async fn migrate_to(&self, pe: PeId) {
        let _rest = Rest::begin(&self.record, None);
        let member = self.identity().target;
        Pe::current(|here| wish::<C>(here, self.identity(), pe));
        poll_fn(|context| {
            let is_wished =
                Pe::current(|here| migration::destination(here, member).is_some_and(|to| to != here.id));
            if !is_wished {
                return Poll::Ready(());
            }
            self.record.await_mover(context);
            Poll::Pending
        })
        .await;
    }

    /// In tests, waits until this entry begins anew; otherwise goes on.
    async fn maybe_anew(&self) {
        if Pe::current(|pe| again::begins_anew_at(pe, &self.record)) {
            pending::<()>().await;
        }
    }
}

impl<C: Chare> Deref for Again<C> {
    type Target = This<C>;

    fn deref(&self) -> &This<C> {
        &self.this
    }
}

/// An entry under way, until its task is dropped.
struct UnderWay(Rc<Record>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        Pe::try_current(|pe| again::leave(pe, &self.0));
    }
}

/// A promise of an entry, and of the call that may be made again instead.
struct Shared<T> {
    promise: Option<Promise<T>>,
    record: Rc<Record>,
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        if self.record.is_handed_on()
            && let Some(promise) = self.promise.take()
        {
            promise.withdraw();
        }
    }
}

/// Starts an `async` entry that may be called again with these arguments: it runs at once, until it has to wait.
pub fn start_again<E, F>(
    this: ThisRef<'_, E::Chare>,
    arguments: E::Arguments,
    body: impl FnOnce(Again<E::Chare>) -> F,
) where
    E: EntryMethod<Chare: Migrates>,
    F: Future<Output = ()> + 'static,
{
    let record = record::<E>(arguments);
    let body = body(Again { this: this.keep(), record: Rc::clone(&record) });
    start::<E::Chare>(record, body);
}

/// Starts an `async` entry that may be called again and returns something, which `reply` receives.
pub fn start_again_replying<E, F, T>(
    this: ThisRef<'_, E::Chare>,
    arguments: E::Arguments,
    body: impl FnOnce(Again<E::Chare>) -> F,
    reply: Reply<T>,
) where
    E: EntryMethod<Chare: Migrates>,
    F: Future<Output = T> + 'static,
    T: Message,
{
    let record = record::<E>(arguments);
    let mut shared = Shared { promise: Some(Promise::of_running(reply)), record: Rc::clone(&record) };
    let body = body(Again { this: this.keep(), record: Rc::clone(&record) });
    start::<E::Chare>(record, async move {
        let value = body.await;
        if let Some(promise) = shared.promise.take() {
            promise.keep(value);
        }
    });
}

/// The record of the call that runs.
fn record<E: EntryMethod>(arguments: E::Arguments) -> Rc<Record> {
    let Running { reference, within, deadline, .. } = Pe::current(|pe| pe.running());
    Rc::new(Record::new(KeptCall {
        entry: entry::<E>(),
        arguments: Arguments::new(arguments),
        reference,
        within,
        deadline,
    }))
}

fn start<C: Chare>(record: Rc<Record>, body: impl Future<Output = ()> + 'static) {
    let under_way = UnderWay(Rc::clone(&record));
    let body = async move {
        body.await;
        drop(under_way);
    };
    match C::ON_PANIC {
        OnPanic::End => begin(record, body),
        OnPanic::Answer | OnPanic::Renew => begin(record, outlived(body)),
    }
}

fn begin(record: Rc<Record>, body: impl Future<Output = ()> + 'static) {
    Pe::current(|pe| {
        let key = pe.add_task(pe.running(), body);
        again::enter(pe, key, record);
        pe.tasks.poll(key);
    });
}
