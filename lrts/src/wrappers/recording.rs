//! Recording of a trace: the part of a job's time that its file has, by a window that was asked for and a switch that the program turns.
//!
//! 1. What happens within the window, while the switch is on, is recorded. What lasts is recorded with the part that lies there, and of a
//!    switch that was turned several times the last time that it was on counts.
//! 2. The window is of the job's time, which [begins](Recording::begin) when the node has met the others. Before, all is recorded if the
//!    window is open from the start, and nothing else.
//! 3. Whoever records asks; nobody is told.

use crate::ambient::clock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The part of a job's time that a trace is to have; all of it by default.
///
/// ```
/// use chare_lrts::wrappers::TraceWindow;
/// use std::time::Duration;
///
/// let window = TraceWindow { from: Duration::from_secs(10), lasts: Some(Duration::from_secs(2)) };
/// assert_ne!(window, TraceWindow::default());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TraceWindow {
    /// When it begins, after the job.
    pub from: Duration,
    /// How long it is open; `None`: up to the job's end.
    pub lasts: Option<Duration>,
}

fn ns(time: Duration) -> u64 {
    time.as_nanos().try_into().unwrap_or(u64::MAX)
}

/// What is recorded of a node's time; see the file's head. All times are those of [`clock::now_ns`].
///
/// Any thread turns the switch, and any reads it: a reader that is between two turns may lose an event, and no other memory hangs on it.
pub struct Recording {
    window: TraceWindow,
    /// When the job began; 0 before.
    begun_ns: AtomicU64,
    /// When the switch was turned on last.
    on_ns: AtomicU64,
    /// When it was turned off; `u64::MAX` while it is on.
    off_ns: AtomicU64,
}

impl Recording {
    /// A switch that is on, for a job that has not begun.
    pub fn new(window: TraceWindow) -> Self {
        let [begun_ns, on_ns, off_ns] = [0, 0, u64::MAX].map(AtomicU64::new);
        Self { window, begun_ns, on_ns, off_ns }
    }

    /// The job begins.
    pub fn begin(&self) {
        self.begun_ns.store(clock::now_ns(), Ordering::Relaxed);
    }

    /// Turns the switch off, unless it is.
    pub fn pause(&self) {
        let _ = self.off_ns.compare_exchange(u64::MAX, clock::now_ns(), Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Turns the switch on, unless it is.
    pub fn resume(&self) {
        if self.off_ns.load(Ordering::Relaxed) != u64::MAX {
            self.on_ns.store(clock::now_ns(), Ordering::Relaxed);
            self.off_ns.store(u64::MAX, Ordering::Relaxed);
        }
    }

    /// Begin and end of the time that is recorded now, or was last.
    fn recorded_ns(&self) -> (u64, u64) {
        let TraceWindow { from, lasts } = self.window;
        let from_ns = ns(from);
        let opens_ns = match self.begun_ns.load(Ordering::Relaxed) {
            _ if from_ns == 0 && lasts.is_none() => 0,
            0 => u64::MAX,
            begun_ns => begun_ns.saturating_add(from_ns),
        };
        let closes_ns = opens_ns.saturating_add(lasts.map_or(u64::MAX, ns));
        let (on_ns, off_ns) = (self.on_ns.load(Ordering::Relaxed), self.off_ns.load(Ordering::Relaxed));
        (opens_ns.max(on_ns), closes_ns.min(off_ns))
    }

    /// Whether what happens then is recorded.
    #[inline]
    pub fn has(&self, at_ns: u64) -> bool {
        let (from_ns, until_ns) = self.recorded_ns();
        (from_ns..until_ns).contains(&at_ns)
    }

    /// The part that is recorded of what lasted from then to then, if there is one.
    #[inline]
    pub fn part(&self, begun_ns: u64, ended_ns: u64) -> Option<(u64, u64)> {
        let (from_ns, until_ns) = self.recorded_ns();
        let (begun_ns, ended_ns) = (begun_ns.max(from_ns), ended_ns.min(until_ns));
        (begun_ns <= ended_ns && begun_ns < until_ns).then_some((begun_ns, ended_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    #[test]
    fn without_a_window_all_is_recorded_while_the_switch_is_on() {
        let recording = Recording::new(TraceWindow::default());
        assert!(recording.has(1) && recording.part(3, 5) == Some((3, 5)), "before the job begins");
        recording.pause();
        let off_ns = recording.off_ns.load(Ordering::Relaxed);
        recording.pause();
        assert_eq!(recording.off_ns.load(Ordering::Relaxed), off_ns, "it is off already");
        assert!(!recording.has(off_ns));
        assert_eq!(recording.part(off_ns - 4, off_ns + 9), Some((off_ns - 4, off_ns)), "up to the turn");
        assert_eq!(recording.part(off_ns, off_ns + 9), None);
        recording.resume();
        let on_ns = recording.on_ns.load(Ordering::Relaxed);
        assert_eq!(recording.part(off_ns - 4, on_ns + 9), Some((on_ns, on_ns + 9)), "from the turn on");
        assert_eq!(recording.part(off_ns - 4, on_ns - 1), None);
    }

    #[test]
    fn a_window_counts_from_the_begin_of_the_job() {
        let window = TraceWindow { from: Duration::from_secs(10), lasts: Some(Duration::from_secs(2)) };
        let recording = Recording::new(window);
        assert!(!recording.has(u64::MAX - 1), "the job has not begun");
        recording.begun_ns.store(SECOND_NS, Ordering::Relaxed);
        let (opens_ns, closes_ns) = (11 * SECOND_NS, 13 * SECOND_NS);
        for (at_ns, is_recorded) in
            [(opens_ns - 1, false), (opens_ns, true), (closes_ns - 1, true), (closes_ns, false)]
        {
            assert_eq!(recording.has(at_ns), is_recorded, "{at_ns}");
        }
        assert_eq!(recording.part(SECOND_NS, 20 * SECOND_NS), Some((opens_ns, closes_ns)));
    }
}
