//! Copy engines: long copies as jobs, which threads that poll, idle threads and engines carry out in fragments. Never on the way of
//! messages: who posts a long copy goes on at once.
//!
//! 1. The thread that posted a job copies a fragment when it polls and nothing has arrived, unless another one has helped a moment ago:
//!    so a job goes on without anybody else, and is left to helpers where there are any. Any thread goes on with a job of which no fragment
//!    has been taken for a while, as when its poster is in a long entry.
//! 2. A thread that has nothing else to do helps with any job. Jobs that help another process with its copy are for such threads alone.
//! 3. Jobs are taken up in the order in which they were posted, those last that another process copies, too; fragments by their place.
//!    They end in any order: those first of which others have copied the rest.
//! 4. What an engine hands back unfinished is copied by a processor.
//! 5. A thread that has made a job end finds it in [`Copies::pop_ended`] right away: nobody has to be woken for it.
//!
//! An engine of hardware is one more [`Engine`], which is offered fragments before the processors: `Dsa`, of the feature `dsa`, where an option asks for it.

#[cfg(feature = "dsa")]
mod dsa;
#[expect(clippy::module_inception, reason = "the trait of all engines")]
mod engine;
mod job;
mod pieces;

#[cfg(test)]
mod mock;
#[cfg(test)]
mod tests;

#[cfg(feature = "dsa")]
pub(crate) use dsa::Dsa;
pub(crate) use engine::Engine;
pub(crate) use job::{CopyPath, Ended};
pub use pieces::PiecewiseCopy;

use crate::ambient::caller::Caller;
use crate::ambient::clock;
use crate::ids::NodeId;
use crate::lrts::Token;
use crate::operation::Operation;
use crate::region::ClaimedRange;
use crate::sync::spin_lock::SpinMutex;
use crossbeam_queue::SegQueue;
use engine::{Helpers, Submitted};
use job::Fragment;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Least bytes of a get or put that goes on in pieces where it is a copy: up to there, it takes
/// no longer than two pieces.
pub const LONG_BYTES_MIN: usize = (128 << 10) + 1;

/// Bytes of a fragment: 3 us of a processor's time, or 14 where pages are touched for the first time (measured for CMA), in which a message
/// waits for the thread that copies.
pub const PIECE_BYTES: usize = 64 << 10;

/// Time without a fragment taken after which threads go on with a job that others have posted.
const STANDSTILL: Duration = Duration::from_micros(100);

/// Time for which posters leave their jobs to a thread that has taken a fragment: as long as to copy a few.
const HELP_LASTS: Duration = Duration::from_micros(50);

/// Whose jobs a thread goes on with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Whose {
    /// Those that stand still.
    Forsaken,
    /// Those that it has posted, too.
    Own,
    All,
}

/// A job's fragments that nobody has taken, as one.
struct Standing {
    rest: Fragment,
    /// Who goes on with it when it polls. `None` if that is help, which can be left out.
    poster: Option<Caller>,
    last_taken: Instant,
}

/// The jobs of which nobody has taken the last fragment.
#[derive(Default)]
struct Jobs {
    standing: VecDeque<Standing>,
    /// When a thread that had nothing else to do took a fragment of another thread's job last.
    last_help: Option<Instant>,
}

/// The long copies of one node.
pub(crate) struct Copies {
    /// Jobs whose end nobody has taken. Written by those who post and who take ends; read, as a hint, by all that poll. It orders nothing.
    open: AtomicUsize,
    jobs: SpinMutex<Jobs>,
    /// What engines did not finish.
    left_over: SegQueue<Fragment>,
    ended: Arc<SegQueue<Ended>>,
    /// In the order in which they are offered a fragment. The last takes all.
    engines: Box<[Box<dyn Engine>]>,
}

impl Copies {
    /// No copies yet, and engines that are asked before the processors.
    pub(crate) fn by(mut engines: Vec<Box<dyn Engine>>) -> Self {
        engines.push(Box::new(Helpers));
        Self {
            open: AtomicUsize::new(0),
            jobs: SpinMutex::default(),
            left_over: SegQueue::new(),
            ended: Arc::default(),
            engines: engines.into(),
        }
    }

    /// The engines, in the order in which they are asked, in words.
    pub(crate) fn describe_engines(&self) -> String {
        self.engines.iter().map(|engine| engine.describe()).collect::<Vec<_>>().join(", then ")
    }

    /// Makes a job of a transfer whose range was claimed, and whose own memory has room for it.
    pub(crate) fn post(&self, operation: Operation, range: ClaimedRange, path: CopyPath) {
        self.stand(Fragment::whole(operation, range, path, &self.ended));
    }

    /// Makes a job of a copy in pieces, of which there is at least one. The job's handle is dropped before its end is told.
    pub(crate) fn post_pieces(&self, pieces: Arc<dyn PiecewiseCopy>, node: NodeId, token: Token) {
        self.stand(Fragment::all_pieces(pieces, (node, token), &self.ended));
    }

    fn stand(&self, rest: Fragment) {
        self.open.fetch_add(1, Ordering::Relaxed);
        let poster = (!rest.is_help()).then(Caller::current);
        let last_taken = clock::now();
        self.jobs.lock().standing.push_back(Standing { rest, poster, last_taken });
    }

    /// Whether nothing is to be done: one load of a line that is written only with jobs.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.open.load(Ordering::Relaxed) == 0
    }

    /// Whether a fragment waits for somebody to take it.
    pub(crate) fn has_fragments(&self) -> bool {
        !self.is_idle() && (!self.left_over.is_empty() || !self.jobs.lock().standing.is_empty())
    }

    /// Whether this thread has posted a job of which fragments wait.
    #[inline]
    pub(crate) fn has_own(&self) -> bool {
        !self.is_idle() && self.finds_own()
    }

    #[inline(never)]
    fn finds_own(&self) -> bool {
        let own = Some(Caller::current());
        self.jobs.lock().standing.iter().any(|job| job.poster == own)
    }

    /// Whether nobody has to poll: what is left runs on threads that will see to its end.
    pub(crate) fn may_sleep(&self) -> bool {
        self.is_idle()
            || !self.has_fragments()
                && self.ended.is_empty()
                && self.engines.iter().all(|engine| engine.is_idle())
    }

    /// Goes on with the copies: feeds the engines, and copies one fragment with this thread. Returns whether it did.
    pub(crate) fn carry_on(&self, whose: Whose) -> bool {
        let others = &self.engines[..self.engines.len() - 1];
        for engine in others {
            engine.poll(&mut |mut fragment, moved| {
                fragment.advance(moved);
                if fragment.len() > 0 {
                    self.left_over.push(fragment);
                }
            });
        }
        if let Some(fragment) = self.left_over.pop() {
            fragment.copy();
            return true;
        }
        while let Some(fragment) = self.take(whose) {
            if self.submit(fragment) == Submitted::Over {
                return true;
            }
        }
        false
    }

    /// Gives a fragment to the first engine that takes it.
    fn submit(&self, mut fragment: Fragment) -> Submitted {
        for engine in &self.engines {
            match engine.submit(fragment) {
                Ok(submitted) => return submitted,
                Err(refused) => fragment = refused,
            }
        }
        unreachable!("the processors take every fragment")
    }

    /// The next fragment for this thread.
    fn take(&self, whose: Whose) -> Option<Fragment> {
        let mut in_vain = Vec::new();
        let mut jobs = self.jobs.lock();
        let mut is_for_others = false;
        let taken = loop {
            let Some(position) = jobs.position(whose) else { break None };
            let job = &mut jobs.standing[position];
            is_for_others = whose == Whose::All && job.poster != Some(Caller::current());
            let is_in_vain = job.rest.is_in_vain();
            let fragment = if is_in_vain { None } else { Some(job.rest.split(PIECE_BYTES)) };
            job.last_taken = clock::now();
            if (is_in_vain || job.rest.len() == 0)
                && let Some(over) = jobs.standing.remove(position)
            {
                in_vain.push(over);
            }
            if fragment.is_some() {
                break fragment;
            }
        };
        if taken.is_some() && is_for_others {
            jobs.last_help = Some(clock::now());
        }
        drop(jobs);
        // Not under the lock: the memory of a job may go with its last fragment.
        drop(in_vain);
        taken
    }

    /// A job that is over, and not told yet. Who is told of it hears of it once.
    pub(crate) fn pop_ended(&self) -> Option<Ended> {
        let ended = self.ended.pop()?;
        self.open.fetch_sub(1, Ordering::Relaxed);
        Some(ended)
    }

    /// Puts the end of a job back that cannot be told now.
    pub(crate) fn put_back(&self, ended: Ended) {
        self.open.fetch_add(1, Ordering::Relaxed);
        self.ended.push(ended);
    }
}

impl Jobs {
    /// The job with which this thread goes on.
    fn position(&self, whose: Whose) -> Option<usize> {
        self.left_to_others().or_else(|| match whose {
            Whose::All => self.first(|_| true),
            Whose::Forsaken => self.forsaken(),
            Whose::Own => self.first_own().or_else(|| self.forsaken()),
        })
    }

    /// The first job of which others copy all that is left. It costs nothing to end it, and somebody waits for its claims or its end.
    fn left_to_others(&self) -> Option<usize> {
        self.standing.iter().position(|job| job.rest.is_left_to_others())
    }

    fn forsaken(&self) -> Option<usize> {
        let first = self.standing.iter().position(|job| job.poster.is_some())?;
        (clock::since(self.standing[first].last_taken) >= STANDSTILL).then_some(first)
    }

    /// The first of these jobs, or of those among them that another process copies, too.
    fn first(&self, is_meant: impl Fn(&Standing) -> bool) -> Option<usize> {
        let meant_alone = |job: &Standing| is_meant(job) && !job.rest.is_shared();
        let shared = || self.standing.iter().position(&is_meant);
        self.standing.iter().position(meant_alone).or_else(shared)
    }

    /// The first job of this thread's, unless somebody helps.
    fn first_own(&self) -> Option<usize> {
        let own = Caller::current();
        let position = self.first(|job| job.poster == Some(own))?;
        let is_left = self.last_help.is_some_and(|last| clock::since(last) < HELP_LASTS);
        (!is_left).then_some(position)
    }
}
