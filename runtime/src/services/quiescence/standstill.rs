//! Standstill of a job, seen from PE 0: nothing moves, while messages are in flight or though nobody waits for quiescence. Each is told once.
//!
//! 1. When every wave for [`PATIENCE`] has shown the same sums, with messages in flight, what waits is surveyed; it is told if that is all
//!    that is in flight. If not, something runs or travels, and nothing is said.
//! 2. When a look finds quiescence, what waits is surveyed, too.
//! 3. What is waited for may still be created, or come from a thread outside. Other sums begin a new standstill.

use super::sums::Sums;
use std::time::{Duration, Instant};

/// Time for which nothing moves before PEs are asked: longer than a network or a busy host delays a message.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// The coordinator's watch over the waves.
#[derive(Default)]
pub(super) struct Standstill {
    /// The sums of the last wave, and the time since which all waves have shown them.
    since: Option<(Sums, Instant)>,
    /// Whether PEs were asked about these sums.
    is_asked: bool,
    /// The sums at which the job was last found quiet.
    quiet: Option<Sums>,
}

impl Standstill {
    /// Takes the sums of a wave. Returns whether all PEs are to be asked now what waits.
    pub(super) fn watch(&mut self, sums: Sums, now: Instant) -> bool {
        match self.since {
            Some((before, since)) if before == sums => {
                let is_due = !self.is_asked && sums.in_flight() > 0 && now.duration_since(since) >= PATIENCE;
                self.is_asked |= is_due;
                is_due
            }
            _ => {
                (self.since, self.is_asked) = (Some((sums, now)), false);
                false
            }
        }
    }

    /// Takes the sums at which the job was found quiet. Returns whether they are new.
    pub(super) fn find_quiet(&mut self, sums: Sums) -> bool {
        self.quiet.replace(sums) != Some(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chare_lrts::clock;

    fn sums(sent: u64) -> Sums {
        Sums { sent, processed: 7, limits: 0 }
    }

    #[test]
    fn a_standstill_is_asked_about_once() {
        let (mut standstill, begin) = (Standstill::default(), clock::now());
        let almost = begin + PATIENCE - Duration::from_millis(1);
        assert!(!standstill.watch(sums(8), begin));
        assert!(!standstill.watch(sums(10), begin), "it moves");
        assert!(!standstill.watch(sums(10), almost), "too early");
        assert!(standstill.watch(sums(10), begin + PATIENCE), "nothing has moved");
        assert!(!standstill.watch(sums(10), begin + 2 * PATIENCE), "once");
        assert!(!standstill.watch(sums(11), begin + 3 * PATIENCE), "it goes on: a new one");
        assert!(standstill.watch(sums(11), begin + 4 * PATIENCE));
    }

    #[test]
    fn quiescence_is_no_standstill_with_messages_in_flight() {
        let (mut standstill, begin) = (Standstill::default(), clock::now());
        assert!(!standstill.watch(sums(7), begin));
        assert!(!standstill.watch(sums(7), begin + 9 * PATIENCE));
        assert!(standstill.find_quiet(sums(7)));
        assert!(!standstill.find_quiet(sums(7)), "once");
        assert!(standstill.find_quiet(sums(8)));
    }
}
