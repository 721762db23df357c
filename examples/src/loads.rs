//! Loads of PEs between syncs, as examples of balancing show them: elements note what they have done on the PE where they live, a group keeps
//! it, and a table says how uneven it was.

use chare::prelude::*;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The work of one PE between two syncs, and when it was over.
#[derive(Clone, Copy, Default, Debug, Serialize, Deserialize)]
pub struct Noted {
    work: u64,
    ended_us: u64,
    /// Bytes that came from other nodes.
    crossing: u64,
}

/// The notes of one PE.
pub struct Ledger {
    since: Instant,
    intervals: Vec<Noted>,
}

#[chare(group)]
impl Ledger {
    /// Nothing is noted yet.
    #[entry]
    pub fn begin() -> Self {
        Self { since: chare::now(), intervals: Vec::new() }
    }

    /// Tells the notes of all PEs.
    #[entry]
    pub fn tell(&self, done: Callback<Vec<Vec<Noted>>>) {
        self.contribute(set(self.intervals.clone()), done);
    }

    fn note(&mut self, interval: usize, work: u64) {
        let ended_us = (chare::now() - self.since).as_micros() as u64;
        let noted = self.interval(interval);
        noted.work += work;
        noted.ended_us = ended_us;
    }

    fn interval(&mut self, interval: usize) -> &mut Noted {
        if self.intervals.len() <= interval {
            self.intervals.resize(interval + 1, Noted::default());
        }
        &mut self.intervals[interval]
    }
}

/// Opens the ledger of the job; in `main`, before it awaits anything and before elements are created.
pub fn open() -> LedgerProxy {
    let ledger = LedgerProxy::create();
    chare::set_readonly(ledger.clone());
    ledger
}

/// Notes what an element has done: before the first sync it is interval 0, then 1.
pub fn note(interval: u32, work: u64) {
    let ledger = chare::readonly::<LedgerProxy>();
    let noted = ledger.local().local(|ledger| ledger.note(interval as usize, work));
    noted.expect("each PE has a ledger since before it had elements");
}

/// Notes bytes that an element has heard from another node.
pub fn note_crossing(interval: u32, bytes: u64) {
    let ledger = chare::readonly::<LedgerProxy>();
    let noted = ledger.local().local(|ledger| ledger.interval(interval as usize).crossing += bytes);
    noted.expect("each PE has a ledger since before it had elements");
}

/// The work of all PEs between two syncs.
#[derive(Clone, PartialEq, Debug)]
pub struct Interval {
    /// By PE.
    pub work: Vec<u64>,
    /// When the last PE was ready, since the ledger was opened.
    pub ended: Duration,
    /// Bytes that went from node to node.
    pub crossing: u64,
}

impl Interval {
    /// The work of the PE that has most, over the mean: 1 if all have the same.
    pub fn unevenness(&self) -> f64 {
        let (most, all) = (self.work.iter().max().copied().unwrap_or(0), self.work.iter().sum::<u64>());
        if all == 0 { 1.0 } else { most as f64 * self.work.len() as f64 / all as f64 }
    }
}

/// The intervals of a job, in their order.
#[derive(Clone, PartialEq, Debug)]
pub struct History(pub Vec<Interval>);

/// Rows that a table has at most; more intervals than that are shown by every second, third, ..
const ROWS_MAX: usize = 16;

impl History {
    /// The loads that elements have noted.
    pub async fn read(ledger: &LedgerProxy) -> Self {
        let (told, done) = chare::future();
        ledger.tell(done);
        Self::of_pes(&told.await)
    }

    fn of_pes(pes: &[Vec<Noted>]) -> Self {
        let intervals = pes.iter().map(Vec::len).max().unwrap_or(0);
        let noted = |interval: usize| pes.iter().map(move |pe| pe.get(interval).copied().unwrap_or_default());
        let interval = |interval| {
            let ended_us = noted(interval).map(|noted| noted.ended_us).max().unwrap_or(0);
            Interval {
                work: noted(interval).map(|noted| noted.work).collect(),
                ended: Duration::from_micros(ended_us),
                crossing: noted(interval).map(|noted| noted.crossing).sum(),
            }
        };
        Self((0..intervals).map(interval).collect())
    }

    /// Prints, for each interval between syncs, how much more than the mean the PE had that had most, and how long it took.
    pub fn print(&self) {
        println!("{:>13} {:>9} {:>9}", "between syncs", "max/avg", "ms");
        let (mut before, every) = (Duration::ZERO, self.0.len().div_ceil(ROWS_MAX).max(1));
        for (number, interval) in self.0.iter().enumerate() {
            if number % every == 0 || number + 1 == self.0.len() {
                let ms = interval.ended.saturating_sub(before).as_secs_f64() * 1e3;
                println!("{number:>13} {:>9.3} {ms:>9.2}", interval.unevenness());
            }
            before = interval.ended;
        }
        if let [first, .., last] = &self.0[..]
            && first.crossing > 0
        {
            println!(
                "bytes from node to node: {} before the first sync, {} after the last",
                first.crossing, last.crossing
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pe_does_not_note_is_nothing() {
        let noted = |work| Noted { work, ended_us: work, crossing: 2 * work };
        let history = History::of_pes(&[vec![noted(3), noted(1)], vec![noted(1)]]);
        assert_eq!(history.0[0], Interval { work: vec![3, 1], ended: Duration::from_micros(3), crossing: 8 });
        assert_eq!(history.0[1].work, [1, 0]);
        assert_eq!(history.0.iter().map(Interval::unevenness).collect::<Vec<_>>(), [1.5, 2.0]);
        assert_eq!(History::of_pes(&[vec![], vec![]]).0, []);
    }
}
