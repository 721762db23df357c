//! Thresholds: which copies are long, and how long threads leave them to each other, as follows from what a node's copies have shown. A pure
//! value, which knows no clock.
//!
//! 1. **A copy is long if it pays to hand it over**: where threads that have nothing else to do take all fragments, from the bytes on that
//!    take as long to copy as it costs to make a job of them; twice these where such threads take half of the fragments, and so on. Never
//!    later than from [`LONG_BYTES_MIN`] on: no message waits longer than for two pieces, whatever pays.
//! 2. **A poster leaves its job to those who help** for as long as they usually take for a few fragments, the last of which they may be at.
//! 3. **A job stands still** when nobody has taken a fragment for twice that time.
//! 4. Before anything was seen, all copies count as unhelped, and a fragment takes as long as at the start of the node. Each time that is
//!    seen counts for an eighth, and for no more than a few times what was believed: one interrupted thread teaches little.
//! 5. **Trials cost a hundredth**: where copies of middling length are made at once, one of so many is handed over all the same.

use std::time::Duration;

/// Bytes from which on a get or put goes on in pieces, in any case, where it is a copy: up to there, it takes no longer than two pieces. Where
/// threads that have nothing else to do help, it goes on in pieces from fewer on, as thresholds say.
pub const LONG_BYTES_MIN: usize = (128 << 10) + 1;

/// Bytes of a fragment: 3 us of a processor's time, or 14 where pages are touched for the first time (measured for CMA), in which a message
/// waits for the thread that copies.
pub const PIECE_BYTES: usize = 64 << 10;

/// Least bytes of a copy that is ever long: half a piece, of which the lines alone that the two threads send each other take a tenth of
/// the time.
pub(super) const BYTES_MIN: usize = PIECE_BYTES / 2;

/// What is seen once counts for one of so many.
const WEIGHT: u64 = 8;

/// The longest time that is believed at once, in times of what was believed before.
const GROWTH: u64 = 8;

/// Fragments for which a poster waits after those who help took the last one.
const FRAGMENTS: u64 = 4;

/// Bounds of the time for which a poster waits: as it takes an idle thread to begin to help, and as a message may wait for two cold
/// fragments of slow memory.
const HELP_LASTS_NS: (u64, u64) = (10_000, 400_000);

/// Copies that are made at once take so many times as long as the trial after them costs.
const UNTRIED: u64 = 100;

/// All fragments, as a share.
const ALL: u64 = 256;

/// Times as they were measured on the machine on which the rest was tuned.
const USUAL: Times = Times { handover_ns: 1_000, piece_ns: 3_200 };

/// What copies cost on this machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Times {
    /// To make a job of a copy, and to end it.
    pub(super) handover_ns: u64,
    /// To copy [`PIECE_BYTES`].
    pub(super) piece_ns: u64,
}

/// What a node's copies have shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Thresholds {
    times: Times,
    /// Between two fragments that threads take which help with one job.
    help_ns: u64,
    /// Fragments that such threads take, of [`ALL`].
    helped: u64,
}

impl Default for Thresholds {
    /// Where there is no machine to be measured, as in simulated jobs.
    fn default() -> Self {
        Self::of(USUAL)
    }
}

impl Thresholds {
    /// Those of a machine whose copies nobody has watched yet.
    pub(super) fn of(Times { handover_ns, piece_ns }: Times) -> Self {
        let times = Times { handover_ns: handover_ns.max(1), piece_ns: piece_ns.max(1) };
        Self { times, help_ns: piece_ns.max(1), helped: 0 }
    }

    /// A processor has copied so many bytes in this time. No time is none that was measured.
    pub(super) fn see_copy(&mut self, bytes: usize, took: Duration) {
        if bytes >= BYTES_MIN && !took.is_zero() {
            let piece_ns = took.as_nanos() * PIECE_BYTES as u128 / bytes as u128;
            self.times.piece_ns = after(self.times.piece_ns, piece_ns);
        }
    }

    /// The poster of a job has taken a fragment, or a thread that helps has.
    pub(super) fn see_taken(&mut self, is_help: bool) {
        let share = if is_help { ALL } else { 0 };
        // Rounded towards what is seen, so that both ends are reached.
        let moved = share.abs_diff(self.helped).div_ceil(WEIGHT);
        self.helped = if is_help { self.helped + moved } else { self.helped - moved };
    }

    /// Threads that help with a job took two fragments in a row of it, one so long after the other.
    pub(super) fn see_help(&mut self, gap: Duration) {
        if !gap.is_zero() {
            self.help_ns = after(self.help_ns, gap.as_nanos());
        }
    }

    /// Least bytes of a copy that is long.
    pub(super) fn long_bytes_min(&self) -> usize {
        self.bytes_worth(ALL, self.helped.max(1)).clamp(BYTES_MIN, LONG_BYTES_MIN)
    }

    /// Bytes of middling copies that are made at once before one is handed over all the same, to see whether somebody helps.
    pub(super) fn untried_bytes_max(&self) -> usize {
        self.bytes_worth(UNTRIED, 1)
    }

    /// Bytes that take so many times as long to copy as it costs to make a job, by this divisor.
    fn bytes_worth(&self, times: u64, divisor: u64) -> usize {
        let Times { handover_ns, piece_ns } = self.times;
        let worth = u128::from(handover_ns) * u128::from(times) * PIECE_BYTES as u128
            / (u128::from(piece_ns) * u128::from(divisor));
        usize::try_from(worth).unwrap_or(usize::MAX)
    }

    /// For how long posters leave their jobs to a thread that has taken a fragment.
    pub(super) fn help_lasts(&self) -> Duration {
        let (least, most) = HELP_LASTS_NS;
        // Of a short job, nobody takes two fragments in a row.
        let fragment_ns = self.help_ns.max(self.times.piece_ns);
        Duration::from_nanos((FRAGMENTS * fragment_ns).clamp(least, most))
    }

    /// Time without a fragment taken after which threads go on with a job that others have posted.
    pub(super) fn standstill(&self) -> Duration {
        2 * self.help_lasts()
    }
}

/// What is believed of a time after one more was seen.
fn after(believed_ns: u64, seen_ns: u128) -> u64 {
    let most = believed_ns.saturating_mul(GROWTH);
    let seen_ns = u64::try_from(seen_ns).unwrap_or(most).min(most);
    (believed_ns - believed_ns / WEIGHT).saturating_add(seen_ns.div_ceil(WEIGHT)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    #[test]
    fn copies_are_handed_over_from_where_that_pays() {
        let mut thresholds = Thresholds::of(Times { handover_ns: 2_000, piece_ns: 3_200 });
        assert_eq!(thresholds.long_bytes_min(), LONG_BYTES_MIN, "nobody is known to help");
        // What takes a hundred times two microseconds to copy.
        assert_eq!(thresholds.untried_bytes_max() >> 10, 4_000);
        (0..40).for_each(|_| thresholds.see_taken(true));
        // What takes two microseconds to copy.
        assert_eq!(thresholds.long_bytes_min(), 40 << 10);
        (0..40).for_each(|taken| thresholds.see_taken(taken % 2 == 0));
        let of_half = thresholds.long_bytes_min();
        assert!((70 << 10..100 << 10).contains(&of_half), "helped with half of it: {of_half}");
        (0..40).for_each(|_| thresholds.see_taken(false));
        assert_eq!(thresholds.long_bytes_min(), LONG_BYTES_MIN, "nobody helps any more");
    }

    #[test]
    fn what_is_copied_slowly_is_handed_over_sooner() {
        let mut thresholds = Thresholds::of(Times { handover_ns: 4_000, piece_ns: 3_200 });
        (0..40).for_each(|_| thresholds.see_taken(true));
        assert_eq!(thresholds.long_bytes_min(), 80 << 10);
        // Memory that is touched for the first time.
        (0..60).for_each(|_| thresholds.see_copy(PIECE_BYTES, us(14)));
        assert_eq!(thresholds.long_bytes_min(), BYTES_MIN);
    }

    #[test]
    fn posters_wait_for_as_long_as_a_few_fragments_take() {
        let mut thresholds = Thresholds::of(Times { handover_ns: 1_000, piece_ns: 5_000 });
        assert_eq!((thresholds.help_lasts(), thresholds.standstill()), (us(20), us(40)));
        (0..80).for_each(|_| thresholds.see_help(us(25)));
        let lasts = thresholds.help_lasts();
        assert!(us(98) < lasts && lasts < us(102) && thresholds.standstill() == 2 * lasts, "{lasts:?}");
        (0..80).for_each(|_| thresholds.see_help(us(1)));
        assert_eq!(thresholds.help_lasts(), us(20), "each thread takes as long to copy as before");
        (0..80).for_each(|_| thresholds.see_copy(PIECE_BYTES, us(1)));
        assert_eq!(thresholds.help_lasts(), us(10), "an idle thread needs as long to begin");
        (0..80).for_each(|_| thresholds.see_help(Duration::from_secs(1)));
        assert_eq!(thresholds.help_lasts(), us(400));
    }

    #[test]
    fn one_interruption_teaches_little_and_no_time_teaches_nothing() {
        let usual = Thresholds::default();
        let mut thresholds = usual.clone();
        thresholds.see_help(Duration::from_secs(1));
        assert!(thresholds.help_lasts() < 2 * usual.help_lasts());
        let mut thresholds = usual.clone();
        thresholds.see_help(Duration::ZERO);
        thresholds.see_copy(PIECE_BYTES, Duration::ZERO);
        thresholds.see_copy(64, us(14));
        assert_eq!(thresholds, usual, "nor does what is too short to be measured");
    }
}
