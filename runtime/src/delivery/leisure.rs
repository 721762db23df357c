//! Leisure of a PE that nobody calls: whether it helps with long copies right away, and how long it stays awake.
//! Owned by the loop of [`super::thread`].

use crate::pe::Pe;
use chare_lrts::clock;
use std::time::{Duration, Instant};

/// Time for which a PE with its own core spins before it sleeps: a few times what a sleep and wake-up cost (40-70 us).
const SPIN_FOR: Duration = Duration::from_micros(200);
/// Longest time for which a PE that has helped with copies spins beyond that for more of them.
const AWAKE_AT_MOST: Duration = Duration::from_millis(5);

/// Leisure of a PE that nobody calls: whether it helps with long copies right away, and how long it stays awake for more of them.
pub(super) struct Leisure {
    /// It lasts until the PE has processed more than so many messages: who has slept or helped has not been called for a while.
    messages: u64,
    /// A PE that has helped spins for as long again, and as long as any other: copies come in rows, and to wake it takes who begins the next
    /// one 15 us (a `futex` on a virtual machine, measured), as long as to copy three pieces.
    awake_until: Instant,
}

impl Leisure {
    pub(super) fn new() -> Self {
        Self { messages: 0, awake_until: clock::now() }
    }

    /// Begins to last, for so many more messages.
    pub(super) fn begin(&mut self, pe: &Pe, messages: u64) {
        self.messages = pe.counters.processed.read() + messages;
    }

    pub(super) fn lasts(&self, pe: &Pe) -> bool {
        pe.counters.processed.read() <= self.messages
    }

    /// The PE has helped since then.
    pub(super) fn note_help(&mut self, since: Instant) {
        let now = clock::now();
        let awake_for = self.awake_until.saturating_duration_since(since) + (now - since);
        self.awake_until = now + awake_for.min(AWAKE_AT_MOST);
    }

    /// Whether a PE that began to spin then goes on.
    pub(super) fn is_awake(&self, since: Instant) -> bool {
        clock::now() < self.awake_until.max(since) + SPIN_FOR
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::in_process::Job;

    #[test]
    fn who_has_helped_stays_awake_for_as_long_again_and_not_for_ever() {
        let began_to_spin = clock::now() - 2 * SPIN_FOR;
        let mut leisure = Leisure { messages: 0, awake_until: began_to_spin };
        assert!(!leisure.is_awake(began_to_spin));
        leisure.note_help(clock::now() - Duration::from_secs(1));
        assert!(leisure.is_awake(began_to_spin));
        assert!(leisure.awake_until <= clock::now() + AWAKE_AT_MOST);
    }

    #[test]
    fn leisure_ends_with_the_messages_that_it_was_given() {
        let code = Job::in_process(1, 1).run(|| async {
            Pe::current(|pe| {
                let mut leisure = Leisure::new();
                leisure.begin(pe, 1);
                let lasted = [(); 3].map(|()| {
                    let lasts = leisure.lasts(pe);
                    pe.counters.processed.add(1);
                    pe.counters.sent.add(1);
                    lasts
                });
                assert_eq!(lasted, [true, true, false]);
            });
        });
        assert_eq!(code.expect("the job runs"), 0);
    }
}
