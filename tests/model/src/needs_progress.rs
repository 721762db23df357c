//! Model of the need of progress: nobody sleeps beside an operation that could go on.

use crate::emulated::needs_progress::NeedsProgress;
use crate::region::claim::{ClaimDenied, ClaimMode, ClaimWord};
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

/// The wrapped backend: full at first.
struct Backend {
    /// Whether it is full, and whether it has refused somebody since it told of room.
    state: Mutex<(bool, bool)>,
    /// Its event descriptor.
    readable: AtomicBool,
}

impl Backend {
    fn send(&self) -> bool {
        let (full, refused) = &mut *self.state.lock().unwrap();
        *refused |= *full;
        !*full
    }

    /// The peer reads. Returns whether it told so.
    fn make_room(&self) -> bool {
        let (full, refused) = &mut *self.state.lock().unwrap();
        *full = false;
        let tells = std::mem::take(refused);
        if tells {
            self.readable.store(true, Ordering::Release);
        }
        tells
    }
}

/// The news of a node that nobody tells anything.
fn no_news() -> u64 {
    0
}

/// A talk: whether its one operation is still to be sent.
struct Talk {
    lock: Mutex<bool>,
    needs_progress: NeedsProgress,
}

impl Talk {
    fn push_out(&self, unsent: &mut bool, backend: &Backend) {
        *unsent = *unsent && !backend.send();
        self.needs_progress.note(*unsent, None, *unsent);
    }

    fn post(&self, backend: &Backend) {
        let mut unsent = self.lock.lock().unwrap();
        *unsent = true;
        self.needs_progress.announce();
        self.push_out(&mut unsent, backend);
    }

    /// Hears the backend, then looks at the talk. Returns whether it told of room, and whether the caller goes to sleep.
    fn progress(&self, backend: &Backend) -> (bool, bool) {
        let heard = backend.readable.swap(false, Ordering::AcqRel);
        if self.needs_progress.is_set(no_news) {
            let unsent = self.lock.try_lock();
            self.needs_progress.come_by(unsent.is_err());
            if let Ok(mut unsent) = unsent {
                self.push_out(&mut unsent, backend);
            }
        }
        (heard, !self.needs_progress.forbids_sleep(no_news))
    }
}

#[test]
fn what_found_no_room_is_tried_again_when_there_is() {
    let mut builder = loom::model::Builder::new();
    // Four threads in every order would take hours, and three preemptions a minute.
    builder.preemption_bound = builder.preemption_bound.or(Some(2));
    builder.check(|| {
        let backend =
            Arc::new(Backend { state: Mutex::new((true, false)), readable: AtomicBool::new(false) });
        let talk = Arc::new(Talk { lock: Mutex::new(false), needs_progress: NeedsProgress::new() });
        let reader = Arc::clone(&backend);
        let reader = thread::spawn(move || reader.make_room());
        let (poster, over) = (Arc::clone(&talk), Arc::clone(&backend));
        let poster = thread::spawn(move || poster.post(&over));
        let (other, its) = (Arc::clone(&talk), Arc::clone(&backend));
        let other = thread::spawn(move || other.progress(&its));
        let mine = talk.progress(&backend);
        let told = reader.join().unwrap();
        poster.join().unwrap();
        let all = [mine, other.join().unwrap()];
        let is_woken = told && all.iter().all(|(heard, _)| !heard);
        let all_sleep = all.iter().all(|(_, sleeps)| *sleeps);
        let unsent = *talk.lock.lock().unwrap();
        assert!(!unsent || !all_sleep || is_woken, "they sleep beside an operation");
    });
}

/// A node that serves a peer's put, into a region that somebody else has claimed.
struct Serving {
    word: ClaimWord,
    news: AtomicU64,
    /// Its event descriptor, which news ring.
    rung: AtomicBool,
    /// The put, if it waits: the count of news from before it was tried.
    waiting: Mutex<Option<u64>>,
    needs_progress: NeedsProgress,
}

impl Serving {
    fn tell(&self, askers: u64) {
        if askers != 0 {
            self.news.fetch_add(1, Ordering::SeqCst);
            // The kernel adds to it; to loom a plain store has no place among the swaps of sleepers.
            self.rung.swap(true, Ordering::AcqRel);
        }
    }

    fn serve(&self, waiting: &mut Option<u64>) {
        *waiting = loop {
            let counted = self.news.load(Ordering::Acquire);
            match self.word.claim(1, ClaimMode::Write) {
                Ok(()) => {
                    self.tell(self.word.release(ClaimMode::Write));
                    break None;
                }
                Err(ClaimDenied::Busy) if self.word.ask(Some(ClaimMode::Write), 1) => break Some(counted),
                Err(ClaimDenied::Busy) => thread::yield_now(),
                Err(ClaimDenied::Stale(_)) => unreachable!("the region is live"),
            }
        };
        self.needs_progress.note(false, *waiting, false);
    }

    /// Looks, then goes to sleep if it may. Returns whether it does.
    fn rest(&self) -> bool {
        let news = || self.news.load(Ordering::Acquire);
        if self.needs_progress.is_set(news) {
            let waiting = self.waiting.try_lock();
            self.needs_progress.come_by(waiting.is_err());
            if let Ok(mut waiting) = waiting {
                self.serve(&mut waiting);
            }
        }
        !self.rung.swap(false, Ordering::AcqRel) && !self.needs_progress.forbids_sleep(news)
    }
}

#[test]
fn what_waited_for_a_claim_is_tried_again_when_it_ends() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        let serving = Arc::new(Serving {
            word: ClaimWord::new(),
            news: AtomicU64::new(0),
            rung: AtomicBool::new(false),
            waiting: Mutex::new(None),
            needs_progress: NeedsProgress::new(),
        });
        serving.word.publish(1);
        serving.word.claim(1, ClaimMode::Read).expect("nobody else claims it");
        let holder = Arc::clone(&serving);
        let holder = thread::spawn(move || holder.tell(holder.word.release(ClaimMode::Read)));
        let other = Arc::clone(&serving);
        let other = thread::spawn(move || other.rest());
        serving.serve(&mut serving.waiting.lock().unwrap());
        let mine = serving.rest();
        holder.join().unwrap();
        let all_sleep = mine && other.join().unwrap();
        let waits = serving.waiting.lock().unwrap().is_some();
        let is_woken = serving.rung.swap(false, Ordering::AcqRel);
        assert!(!waits || !all_sleep || is_woken, "they sleep beside a put");
    });
}
