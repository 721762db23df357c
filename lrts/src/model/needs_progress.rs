//! Model of the need of progress: nobody sleeps beside an operation that could go on.

use crate::emulated::needs_progress::NeedsProgress;
use loom::sync::atomic::{AtomicBool, Ordering};
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

/// A talk: whether its one operation is still to be sent.
struct Talk {
    lock: Mutex<bool>,
    needs_progress: NeedsProgress,
}

impl Talk {
    fn push_out(&self, unsent: &mut bool, backend: &Backend) {
        *unsent = *unsent && !backend.send();
        self.needs_progress.note(*unsent, false, *unsent);
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
        if self.needs_progress.is_set() {
            let unsent = self.lock.try_lock();
            self.needs_progress.come_by(unsent.is_err());
            if let Ok(mut unsent) = unsent {
                self.push_out(&mut unsent, backend);
            }
        }
        (heard, !self.needs_progress.forbids_sleep())
    }
}

#[test]
fn what_found_no_room_is_tried_again_when_there_is() {
    let mut builder = loom::model::Builder::new();
    // Four threads in every order would take hours.
    builder.preemption_bound = Some(3);
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
