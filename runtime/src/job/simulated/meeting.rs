//! Meeting of the threads that drive a simulated job: each says how far its nodes are, waits for all others, and hears what all say together.

use parking_lot::{Condvar, Mutex};
use std::panic::resume_unwind;

/// What a thread says, or what all say together.
#[derive(Clone, Copy)]
pub(super) struct Said {
    /// The moment of what happens next.
    pub(super) next: Option<u64>,
    /// The moment of what happened last.
    pub(super) now: u64,
    /// How much has happened.
    pub(super) events: u64,
    /// Messages sent and over.
    pub(super) counted: u64,
    /// Whether anybody sleeps.
    pub(super) sleeps: bool,
    /// Whether there is a node that has not gone.
    pub(super) stays: bool,
    /// Whether the job goes on.
    pub(super) goes_on: bool,
}

impl Said {
    /// What changes nothing of what others say.
    pub(super) const NOTHING: Self =
        Self { next: None, now: 0, events: 0, counted: 0, sleeps: false, stays: false, goes_on: true };

    fn with(self, other: Self) -> Self {
        Self {
            next: self.next.into_iter().chain(other.next).min(),
            now: self.now.max(other.now),
            events: self.events + other.events,
            counted: self.counted.wrapping_add(other.counted),
            sleeps: self.sleeps | other.sleeps,
            stays: self.stays | other.stays,
            goes_on: self.goes_on & other.goes_on,
        }
    }
}

/// What a thread panics with since another one has, which comes no more.
pub(super) struct BrokenUp;

struct Round {
    number: u64,
    come: u32,
    /// What those have said who have come.
    said: Said,
    /// What all said together in the round before.
    heard: Said,
    is_broken: bool,
}

/// See the file's head.
pub(super) struct Meeting {
    threads: u32,
    round: Mutex<Round>,
    all_have_come: Condvar,
}

impl Meeting {
    pub(super) fn of(threads: u32) -> Self {
        let round = Round { number: 0, come: 0, said: Said::NOTHING, heard: Said::NOTHING, is_broken: false };
        Self { threads, round: Mutex::new(round), all_have_come: Condvar::new() }
    }

    /// Says something, and returns what all threads say together.
    ///
    /// # Panics
    /// With [`BrokenUp`], and without a word, when another thread has panicked.
    pub(super) fn meet(&self, said: Said) -> Said {
        if self.threads == 1 {
            return said;
        }
        let mut round = self.round.lock();
        round.said = round.said.with(said);
        round.come += 1;
        let number = round.number;
        if round.come == self.threads {
            round.heard = std::mem::replace(&mut round.said, Said::NOTHING);
            (round.number, round.come) = (number + 1, 0);
            self.all_have_come.notify_all();
        }
        while round.number == number && !round.is_broken {
            self.all_have_come.wait(&mut round);
        }
        if round.number == number {
            resume_unwind(Box::new(BrokenUp));
        }
        // The next round needs this thread, too, so nothing else has been heard meanwhile.
        round.heard
    }

    /// Has the meeting broken up if this thread panics before what is returned is dropped.
    pub(super) fn attend(&self) -> Attendance<'_> {
        Attendance(self)
    }
}

/// A thread that comes to each meeting, unless it panics.
pub(super) struct Attendance<'a>(&'a Meeting);

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.round.lock().is_broken = true;
            self.0.all_have_come.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::scope;

    #[test]
    fn all_hear_what_all_say() {
        let meeting = Meeting::of(3);
        let attend = |mine: u64| {
            for round in 0..1_000 {
                let said =
                    Said { next: Some(round + mine), events: mine, sleeps: mine == 2, ..Said::NOTHING };
                let heard = meeting.meet(said);
                assert_eq!((heard.next, heard.events, heard.sleeps), (Some(round), 3, true));
            }
        };
        scope(|scope| (0..3).for_each(|mine| _ = scope.spawn(move || attend(mine))));
    }

    #[test]
    fn nobody_waits_for_who_has_panicked() {
        let meeting = Meeting::of(2);
        scope(|scope| {
            let fails = scope.spawn(|| {
                let _attendance = meeting.attend();
                panic!("one that a test wants");
            });
            let waits = scope.spawn(|| _ = meeting.meet(Said::NOTHING));
            assert!(!fails.join().expect_err("it panics").is::<BrokenUp>());
            assert!(waits.join().expect_err("it is told").is::<BrokenUp>());
        });
    }
}
