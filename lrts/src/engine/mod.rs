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
//! 5. How long a while and a moment are, and which copies are long, follows from what the copies before have shown ([`Thresholds`]).
//! 6. A thread that has made a job end finds it in [`Copies::pop_ended`] right away: nobody has to be woken for it.
//!
//! An engine of hardware is one more [`Engine`], which is offered fragments before the processors: `Dsa`, of the feature `dsa`, where an option asks for it.

#[cfg(feature = "dsa")]
mod dsa;
#[expect(clippy::module_inception, reason = "the trait of all engines")]
mod engine;
mod job;
mod thresholds;

#[cfg(test)]
mod mock;
#[cfg(test)]
mod tests;

#[cfg(feature = "dsa")]
pub(crate) use dsa::Dsa;
pub(crate) use engine::Engine;
pub use job::PiecewiseCopy;
pub(crate) use job::{CopyPath, Ended};
pub(crate) use thresholds::Thresholds;
pub use thresholds::{LONG_BYTES_MIN, PIECE_BYTES};

use crate::ambient::caller::Caller;
use crate::ambient::clock;
use crate::ids::NodeId;
use crate::lrts::Token;
use crate::operation::Operation;
use crate::region::ClaimedRange;
use crate::sync::spin_lock::SpinMutex;
use crossbeam_queue::SegQueue;
use engine::{Helpers, Submitted};
use job::{Fragment, NoPiece};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;
use thresholds::Times;

/// Rounds by which times are measured at the start.
const ROUNDS: usize = 8;

/// Thresholds for this machine, on which a piece is copied and a job made of nothing a few times: some 50 us.
pub(crate) fn measure() -> Thresholds {
    let (from, mut into) = (vec![1_u8; PIECE_BYTES], vec![0; PIECE_BYTES]);
    let piece_ns = shortest_ns(|| std::hint::black_box(&mut into).copy_from_slice(&from));
    let copies = Copies::by(Vec::new(), Thresholds::default());
    let job_ns = shortest_ns(|| {
        copies.post_pieces(Arc::new(NoPiece), NodeId(0), 0);
        copies.carry_on(Whose::Own);
        copies.pop_ended();
    });
    // As much again for the lines that poster and helper send each other.
    Thresholds::of(Times { piece_ns, handover_ns: 2 * job_ns })
}

fn shortest_ns(mut run: impl FnMut()) -> u64 {
    let time_ns = |()| {
        let began = clock::now();
        run();
        clock::since(began).as_nanos() as u64
    };
    std::iter::repeat_n((), ROUNDS).map(time_ns).min().unwrap_or(0)
}

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
    /// Whether a thread that helps took the last fragment.
    is_helped: bool,
}

/// Who takes a fragment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Taker {
    Poster,
    /// A thread that has nothing else to do.
    Helper,
    /// A thread that has, of a job that stands still.
    Other,
}

/// The jobs of which nobody has taken the last fragment.
#[derive(Default)]
struct Jobs {
    standing: VecDeque<Standing>,
    /// When a thread that had nothing else to do took a fragment of another thread's job last.
    last_help: Option<Instant>,
    thresholds: Thresholds,
}

/// The long copies of one node.
pub(crate) struct Copies {
    /// Jobs whose end nobody has taken. Written by those who post and who take ends; read, as a hint, by all that poll. It orders nothing.
    open: AtomicUsize,
    jobs: SpinMutex<Jobs>,
    /// What the thresholds say, for who posts: written with the lock of `jobs` held. A hint, which orders nothing.
    long_bytes_min: AtomicUsize,
    /// As `long_bytes_min`: after how many bytes of middling copies the next one is tried.
    untried_bytes_max: AtomicUsize,
    /// Bytes of middling copies that were made at once since the last trial, as often as somebody asked of each. Written by all who ask; it
    /// orders nothing.
    untried_bytes: AtomicUsize,
    /// Whether the next copy of middling length is a job, to see whether somebody helps. A hint, which orders nothing.
    tries: AtomicBool,
    /// What engines did not finish.
    left_over: SegQueue<Fragment>,
    ended: Arc<SegQueue<Ended>>,
    /// In the order in which they are offered a fragment. The last takes all.
    engines: Box<[Box<dyn Engine>]>,
}

impl Copies {
    /// No copies yet, and engines that are asked before the processors.
    pub(crate) fn by(mut engines: Vec<Box<dyn Engine>>, thresholds: Thresholds) -> Self {
        engines.push(Box::new(Helpers));
        Self {
            open: AtomicUsize::new(0),
            long_bytes_min: AtomicUsize::new(thresholds.long_bytes_min()),
            untried_bytes_max: AtomicUsize::new(thresholds.untried_bytes_max()),
            untried_bytes: AtomicUsize::new(0),
            jobs: SpinMutex::new(Jobs { thresholds, ..Jobs::default() }),
            tries: AtomicBool::new(false),
            left_over: SegQueue::new(),
            ended: Arc::default(),
            engines: engines.into(),
        }
    }

    /// The engines, in the order in which they are asked, and from which length on, in words.
    pub(crate) fn describe_engines(&self) -> String {
        let engines = self.engines.iter().map(|engine| engine.describe()).collect::<Vec<_>>().join(", then ");
        format!("{engines}, from {} KiB on", self.long_bytes_min.load(Ordering::Relaxed) >> 10)
    }

    /// Whether a copy of so many bytes is to be a job.
    ///
    /// Where none of middling length is one, nobody learns that somebody would help now: one of many is handed over all the same, and says.
    #[inline]
    pub(crate) fn is_long(&self, bytes: usize) -> bool {
        bytes >= thresholds::BYTES_MIN
            && (bytes >= self.long_bytes_min.load(Ordering::Relaxed) || self.is_trial(bytes))
    }

    fn is_trial(&self, bytes: usize) -> bool {
        // Until it is a job: whoever asks twice of one copy hears the same.
        if self.tries.load(Ordering::Relaxed) {
            return true;
        }
        let untried = self.untried_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let is_trial = untried >= self.untried_bytes_max.load(Ordering::Relaxed);
        if is_trial {
            self.untried_bytes.store(0, Ordering::Relaxed);
            self.tries.store(true, Ordering::Relaxed);
        }
        is_trial
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
        self.tries.store(false, Ordering::Relaxed);
        self.open.fetch_add(1, Ordering::Relaxed);
        let poster = (!rest.is_help()).then(Caller::current);
        let last_taken = clock::now();
        self.jobs.lock().standing.push_back(Standing { rest, poster, last_taken, is_helped: false });
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
        while let Some((fragment, taken_at)) = self.take(whose) {
            let plain_bytes = fragment.plain_bytes();
            if self.submit(fragment) == Submitted::Over {
                if let Some(bytes) = plain_bytes {
                    let took = clock::since(taken_at);
                    self.jobs.lock().thresholds.see_copy(bytes, took);
                }
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

    /// The next fragment for this thread, and when it took it.
    fn take(&self, whose: Whose) -> Option<(Fragment, Instant)> {
        let mut in_vain = Vec::new();
        let mut jobs = self.jobs.lock();
        let now = clock::now();
        let taken = loop {
            let Some(position) = jobs.position(whose) else { break None };
            let taker = jobs.taker(position, whose);
            let job = &mut jobs.standing[position];
            let is_telling = job.poster.is_some() && !job.rest.is_left_to_others();
            let is_in_vain = job.rest.is_in_vain();
            let fragment = if is_in_vain { None } else { Some(job.rest.split(PIECE_BYTES)) };
            let before = (job.is_helped, std::mem::replace(&mut job.last_taken, now));
            job.is_helped = taker == Taker::Helper;
            if (is_in_vain || job.rest.len() == 0)
                && let Some(over) = jobs.standing.remove(position)
            {
                in_vain.push(over);
            }
            if let Some(fragment) = fragment {
                if taker == Taker::Helper {
                    jobs.last_help = Some(now);
                }
                if is_telling {
                    jobs.learn(taker, before, now);
                    self.long_bytes_min.store(jobs.thresholds.long_bytes_min(), Ordering::Relaxed);
                    self.untried_bytes_max.store(jobs.thresholds.untried_bytes_max(), Ordering::Relaxed);
                }
                break Some((fragment, now));
            }
        };
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
    /// Who this thread is that takes a fragment of a job.
    fn taker(&self, position: usize, whose: Whose) -> Taker {
        match self.standing[position].poster {
            Some(poster) if poster == Caller::current() => Taker::Poster,
            _ if whose == Whose::All => Taker::Helper,
            _ => Taker::Other,
        }
    }

    /// Learns from a fragment of this process's job that was taken now; the one before it was taken by a helper, or not, at that time.
    fn learn(&mut self, taker: Taker, (was_helped, last_taken): (bool, Instant), now: Instant) {
        match taker {
            Taker::Poster => self.thresholds.see_taken(false),
            Taker::Helper => {
                self.thresholds.see_taken(true);
                if was_helped {
                    self.thresholds.see_help(now.saturating_duration_since(last_taken));
                }
            }
            Taker::Other => {}
        }
    }

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
        (clock::since(self.standing[first].last_taken) >= self.thresholds.standstill()).then_some(first)
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
        let is_left = self.last_help.is_some_and(|last| clock::since(last) < self.thresholds.help_lasts());
        (!is_left).then_some(position)
    }
}
