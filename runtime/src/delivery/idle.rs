//! Idleness of a PE: what it still does before it rests, and until when it may; and its leisure while nobody calls it, which the loop of
//! [`super::thread`] owns: whether it helps with long copies right away, and how long it stays awake.
//! `delivery/scheduler -> **delivery/idle**`
//!
//! 1. A PE whose steps found nothing to do tidies, sends what was collected, and learns when something will be due: [`before_sleep`].
//! 2. It announces that it sleeps, and then asks [`Rest::stays_awake`]: what was left for it before the announcement is seen here, and
//!    whoever leaves something after it wakes the PE ([`crate::base::sleep`]).
//!
//! Whoever runs the PE does the waiting.

use super::polling;
use super::scheduler::{has_work, settle_services};
use crate::pe::Pe;
use crate::transfer::device::launch_steps;
use crate::transfer::take::remote_memory::send_releases;
use chare_lrts::clock;
use std::time::{Duration, Instant};

/// Longest sleep while a message or transfer waits for room in the network.
const CONGESTED_SLEEP: Duration = Duration::from_micros(100);

/// Rest of a PE that has nothing to do.
pub(super) struct Rest {
    /// When something may be due that nobody wakes the PE for.
    pub(super) until: Option<Instant>,
    /// Something waited for room in the network already when the rest began: `until` is soon.
    was_congested: bool,
}

impl Rest {
    /// Whether there is something to do after all. Asked once the PE has announced that it sleeps.
    pub(super) fn stays_awake(&self, pe: &Pe) -> bool {
        let node = &pe.node;
        has_work(pe)
            || node.has_ended()
            || node.network.has_copies()
            || node.has_put_off()
            || node.has_news()
            || (!self.was_congested && node.is_congested())
    }
}

/// Does what is left to do before a PE sleeps that has rested for this long.
pub(super) fn before_sleep(pe: &Pe, rested: Duration) -> Rest {
    let node = &pe.node;
    let tidied = polling::tidy(node, rested);
    // Tidying may have released lent memory, or run code of the user that makes calls.
    send_releases(pe);
    settle_services(pe);
    launch_steps(pe);
    pe.flush_timeline();
    let was_congested = node.is_congested();
    let limits = tidied.into_iter().chain(was_congested.then_some(CONGESTED_SLEEP)).min();
    let after = limits.map(|limit| clock::now() + limit);
    let due = pe.attended().filter_map(|service| (service.due)(pe));
    Rest { until: due.chain(after).min(), was_congested }
}

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
