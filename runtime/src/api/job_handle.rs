//! Handles of a running job for everybody outside its PEs: threads and tasks of any executor give it work and await the answers.
//!
//! 1. Work is a closure that a PE calls, and the future that it returns; the PE runs it as it runs an `async` entry. Proxies, futures and
//!    all functions of a job are used there.
//! 2. Work in a PE's mailbox counts as a message, so quiescence waits for it.
//! 3. A handle keeps nothing of the job alive. Work that the job's end overtakes is dropped, and so is whoever would have answered: that
//!    is how an [`Answer`] learns of it.

use crate::base::block_on::block_on;
use crate::base::panics;
use crate::model::error::{JobError, NoAnswer};
use crate::model::ids::PeId;
use crate::node::Node;
use crate::pe::Pe;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};
use tokio::sync::{Semaphore, oneshot, watch};

/// A running job, for any thread and any task of any executor: gives it work, awaits its answers and its end.
///
/// Made by [`Job::start`](crate::Job::start) and [`Program::start`](crate::Program::start), and on a PE by [`job_handle`]. Clones are the
/// same job. The job does not end with its handles.
///
/// ```
/// use chare::prelude::*;
///
/// struct Counter(u64);
///
/// #[chare]
/// impl Counter {
///     #[entry]
///     fn new() -> Self {
///         Self(0)
///     }
///
///     #[entry]
///     fn add(&mut self, summand: u64) -> u64 {
///         self.0 += summand;
///         self.0
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let job = chare::Job::in_process(1, 2).start()?;
/// let counter = job.run(async || CounterProxy::create()).wait()?;
/// let threads: Vec<_> = (1..=3)
///     .map(|summand| {
///         let (job, counter) = (job.clone(), counter.clone());
///         // A task of tokio would write `.await` in place of `.wait()`.
///         std::thread::spawn(move || job.run(move || counter.add(summand)).wait())
///     })
///     .collect();
/// for thread in threads {
///     assert!(thread.join().unwrap()? <= 6);
/// }
/// job.shut_down(0);
/// assert_eq!(job.join()?, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct JobHandle {
    node: Weak<Node>,
    end: watch::Receiver<Option<Result<i32, JobError>>>,
    /// The rank of the PE that gets the next work.
    next: Arc<AtomicU32>,
}

/// The running job, for threads and tasks outside its PEs; see [`JobHandle`].
///
/// # Panics
/// Outside a job's entries, and in a simulated job.
pub fn job_handle() -> JobHandle {
    assert!(chare_lrts::may_block(), "a simulated job has no handle: other threads know nothing of its time");
    Pe::current(|pe| JobHandle {
        node: Arc::downgrade(&pe.node),
        end: pe.node.outcome().subscribe(),
        next: Arc::default(),
    })
}

impl JobHandle {
    /// Runs work on a PE of this process, on each in turn: `body` is called there, and the future that it returns runs as an `async` entry
    /// does. The work begins whether or not somebody awaits the answer. One allocation or two, and one wake-up if the PE sleeps.
    ///
    /// An `async` closure is work, and so is a closure that asks one chare: `job.run(move || proxy.entry(7))`. Work that panics does not
    /// end the job: its answer says what went wrong.
    pub fn run<F, Fut, T>(&self, body: F) -> Answer<T>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = T> + 'static,
        T: Send + 'static,
    {
        self.begin(None, body)
    }

    /// Like [`run`](Self::run), on a PE of the caller's choice.
    ///
    /// # Panics
    /// If the PE is of another process: closures do not travel, so create a chare there instead.
    pub fn run_on<F, Fut, T>(&self, pe: PeId, body: F) -> Answer<T>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = T> + 'static,
        T: Send + 'static,
    {
        self.begin(Some(pe), body)
    }

    fn begin<F, Fut, T>(&self, on: Option<PeId>, body: F) -> Answer<T>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = T> + 'static,
        T: Send + 'static,
    {
        let (tell, told) = oneshot::channel();
        if let Some(node) = self.node.upgrade().filter(|node| !node.has_ended()) {
            let pe = on.unwrap_or_else(|| self.next_pe(&node));
            assert!(
                node.is_here(pe),
                "{pe} is not on {}, and closures do not leave their process: create a chare on {pe}, and call it",
                node.id
            );
            let work = async move || {
                let answer = panics::catch_awaited(async move { body().await }).await;
                // What the work had called like functions is over, if a panic left any.
                Pe::current(|pe| pe.leave_inside(0));
                // Whoever dropped the answer wants none.
                let _ = tell.send(answer.map_err(NoAnswer::Failed));
            };
            node.begin(pe, Box::new(move || Box::pin(work())));
        }
        Answer(told)
    }

    fn next_pe(&self, node: &Node) -> PeId {
        let rank = self.next.fetch_add(1, Ordering::Relaxed) % node.topology.pes_per_node();
        node.topology.pe(node.id, rank)
    }

    /// A handle whose work waits outside the job while `most` pieces of it are under way: back-pressure for whoever awaits it.
    pub fn limited(&self, most: usize) -> LimitedJobHandle {
        LimitedJobHandle { job: self.clone(), room: Arc::new(Semaphore::new(most)) }
    }

    /// Ends the job, on all nodes, with an exit code, as [`exit`](crate::exit()) does: what is in flight is dropped. For an end without
    /// losses, `job.run(chare::quiescence)` before. Does nothing if the job is over.
    pub fn shut_down(&self, code: i32) {
        if let Some(node) = self.node.upgrade() {
            node.exit(code);
        }
    }

    /// Waits until the job is over: until all its PEs in this process have stopped. The future may be sent to other threads.
    ///
    /// # Errors
    /// The cause of the job's failure.
    pub fn ended(&self) -> impl Future<Output = Result<i32, JobError>> + Send + use<> {
        let mut end = self.end.clone();
        async move {
            match end.wait_for(Option::is_some).await {
                Ok(end) => end.clone().expect("it was waited for"),
                Err(_) => Err(JobError::Config("the job went without saying how".to_owned())),
            }
        }
    }

    /// Blocks the calling thread until the job is over.
    ///
    /// # Errors
    /// The cause of the job's failure.
    ///
    /// # Panics
    /// On a PE, which would wait for itself.
    pub fn join(&self) -> Result<i32, JobError> {
        refuse_on_pe("`JobHandle::join`");
        block_on(self.ended())
    }
}

impl std::fmt::Debug for JobHandle {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = if self.end.borrow().is_some() { "over" } else { "running" };
        write!(out, "JobHandle({state})")
    }
}

fn refuse_on_pe(what: &str) {
    assert!(
        Pe::try_current(|_| ()).is_none(),
        "{what} would block the PE that it waits for: await it there instead"
    );
}

/// The answer of work that a job runs: a future for any executor. Dropping it lets the work go on.
///
/// # Errors
/// When the job ends before, or the work panics: see [`NoAnswer`].
#[derive(Debug)]
pub struct Answer<T>(oneshot::Receiver<Result<T, NoAnswer>>);

impl<T> Answer<T> {
    /// Blocks the calling thread until the answer is there.
    ///
    /// # Errors
    /// When the job ends before, or the work panics.
    ///
    /// # Panics
    /// On a PE, which the answer may need.
    pub fn wait(self) -> Result<T, NoAnswer> {
        refuse_on_pe("`Answer::wait`");
        block_on(self)
    }
}

impl<T> Future for Answer<T> {
    type Output = Result<T, NoAnswer>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let told = ready!(Pin::new(&mut self.0).poll(context));
        Poll::Ready(told.unwrap_or(Err(NoAnswer::JobEnded)))
    }
}

/// A [`JobHandle`] with bounded room for work that is under way: who gives it more waits. Clones share the room.
#[derive(Clone, Debug)]
pub struct LimitedJobHandle {
    job: JobHandle,
    room: Arc<Semaphore>,
}

impl LimitedJobHandle {
    /// Like [`JobHandle::run`], once there is room. The work has its room until it is over, even if nobody awaits it any more.
    ///
    /// # Errors
    /// When the job ends before, or the work panics.
    pub async fn run<F, Fut, T>(&self, body: F) -> Result<T, NoAnswer>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = T> + 'static,
        T: Send + 'static,
    {
        let room = Arc::clone(&self.room).acquire_owned().await.expect("nobody closes it");
        let work = async move || {
            let _room = room;
            body().await
        };
        self.job.run(work).await
    }

    /// How much more work may begin at once.
    pub fn room(&self) -> usize {
        self.room.available_permits()
    }

    /// The handle without a limit.
    pub fn job(&self) -> &JobHandle {
        &self.job
    }
}
