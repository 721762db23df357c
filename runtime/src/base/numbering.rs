//! Numbering of what the jobs of one process make: a proxy, callback or section that was kept from one job is like nothing of another.
//!
//! 1. A job that begins alone numbers on from where those before it ended.
//! 2. One that begins beside others numbers on behind the stretches of numbers that they have. A job takes further stretches as it grows; it
//!    may so meet the numbers of one that began later, after [`STRETCH`] creations of a kind by one PE.
//! 3. Whose a number is that the job has not given is asked only where a message finds nothing.
//! 4. After half of all numbers they begin anew.
//! 5. A simulated job begins with the first number: the same program has the same numbers each time.

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The numbers of creations that a job takes at a time.
const STRETCH: u32 = 1 << 20;

/// The numbers of futures between jobs that begin beside each other. Those of a long job come round: a future is told from others by its
/// place in a table, too.
const FUTURES_APART: u32 = 1 << 24;

/// The number of creations in one process after which numbers begin anew: a job has the other half for its own.
const CREATIONS_MAX: u32 = 1 << 31;

static JOBS: Mutex<Jobs> =
    Mutex::new(Jobs { unused: Numbers { creations: 0, futures: 0 }, rows: Vec::new(), begun: 0 });

/// Numbers that no job of a process has given yet. All nodes of a job begin with the same ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Numbers {
    /// Of singletons, collections and sections.
    pub(crate) creations: u32,
    /// Of futures and of callbacks' closures.
    pub(crate) futures: u32,
}

impl Numbers {
    /// The numbers behind both.
    pub(crate) fn or(self, other: Self) -> Self {
        Self { creations: self.creations.max(other.creations), futures: self.futures.max(other.futures) }
    }
}

/// The numbers of the jobs of a process.
struct Jobs {
    /// Behind all that jobs which are over have given.
    unused: Numbers,
    /// The jobs that run, and those that have run beside one of them.
    rows: Vec<Row>,
    begun: u64,
}

/// A job's stretch of numbers.
struct Row {
    job: u64,
    creations: Range<u32>,
    is_over: bool,
}

impl Jobs {
    fn begin(&mut self) -> (u64, Numbers) {
        let Numbers { creations, futures } = self.unused;
        let creations = self.rows.iter().fold(creations, |first, row| first.max(row.creations.end));
        let creations = if creations > CREATIONS_MAX { 0 } else { creations };
        let beside = self.rows.iter().filter(|row| !row.is_over).count() as u32;
        self.begun += 1;
        self.rows.push(Row { job: self.begun, creations: creations..creations + STRETCH, is_over: false });
        (self.begun, Numbers { creations, futures: futures.wrapping_add(beside.wrapping_mul(FUTURES_APART)) })
    }

    #[cfg(feature = "sim")]
    fn begin_anew(&mut self) -> u64 {
        self.begun += 1;
        self.rows.push(Row { job: self.begun, creations: 0..STRETCH, is_over: false });
        self.begun
    }

    fn row(&mut self, job: u64) -> Option<&mut Row> {
        self.rows.iter_mut().find(|row| row.job == job)
    }

    fn is_of_another(&self, job: u64, creation: u32) -> bool {
        let (mine, others): (Vec<&Row>, Vec<&Row>) = self.rows.iter().partition(|row| row.job == job);
        let has = |rows: Vec<&Row>| rows.iter().any(|row| row.creations.contains(&creation));
        has(others) && !has(mine)
    }

    fn end(&mut self, job: u64) {
        if let Some(row) = self.row(job) {
            row.is_over = true;
        }
        if self.rows.iter().all(|row| row.is_over) {
            self.rows.clear();
        }
    }
}

/// A job of this process, as far as its numbers go; it is over when this is dropped.
pub(crate) struct JobNumbers {
    job: u64,
    proposed: Numbers,
    agreed: OnceLock<Numbers>,
}

impl JobNumbers {
    /// A job that begins now.
    pub(crate) fn begin() -> Arc<Self> {
        let (job, proposed) = JOBS.lock().begin();
        Arc::new(Self { job, proposed, agreed: OnceLock::new() })
    }

    /// A simulated job, which begins with the same numbers whatever ran before or runs beside it.
    #[cfg(feature = "sim")]
    pub(crate) fn begin_anew() -> Arc<Self> {
        let job = JOBS.lock().begin_anew();
        Arc::new(Self { job, proposed: Numbers::default(), agreed: OnceLock::new() })
    }

    /// The first numbers, as far as this process knows.
    pub(crate) fn proposed(&self) -> Numbers {
        self.proposed
    }

    /// Takes note of the first numbers on which all nodes have agreed: none before those of any.
    pub(crate) fn agree(&self, first: Numbers) {
        let first = self.agreed.get_or_init(|| first).creations;
        if let Some(row) = JOBS.lock().row(self.job) {
            row.creations = first..row.creations.end.max(first.saturating_add(STRETCH));
        }
    }

    /// The first numbers.
    pub(crate) fn first(&self) -> Numbers {
        self.agreed.get().copied().unwrap_or(self.proposed)
    }

    /// Takes the next stretch, if this number is the last of one.
    #[inline]
    pub(crate) fn grow(&self, creation: u32) {
        if creation.wrapping_sub(self.first().creations) % STRETCH == STRETCH - 1 {
            self.take_stretch(creation);
        }
    }

    #[cold]
    fn take_stretch(&self, last: u32) {
        if let Some(row) = JOBS.lock().row(self.job) {
            row.creations.end = row.creations.end.max(last.saturating_add(1 + STRETCH));
        }
    }

    /// Whose a number is that is of another job of this process, in words.
    pub(crate) fn other(&self, creation: u32) -> Option<&'static str> {
        if creation < self.first().creations {
            return Some("is of an earlier job of this process: what belongs to a job ends with it");
        }
        let is_other = JOBS.lock().is_of_another(self.job, creation);
        is_other.then_some("is of another job of this process: what a job makes is known to that job alone")
    }

    /// Takes note that the job has given the numbers before these.
    pub(crate) fn note(&self, end: Numbers) {
        let mut jobs = JOBS.lock();
        jobs.unused = jobs.unused.or(end);
    }
}

impl Drop for JobNumbers {
    fn drop(&mut self) {
        JOBS.lock().end(self.job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs() -> Jobs {
        Jobs { unused: Numbers::default(), rows: Vec::new(), begun: 0 }
    }

    #[test]
    fn jobs_one_after_the_other_number_on_and_those_side_by_side_lie_apart() {
        let mut jobs = jobs();
        let (one, first) = jobs.begin();
        assert_eq!(first, Numbers::default());
        let (two, second) = jobs.begin();
        assert_eq!(second, Numbers { creations: STRETCH, futures: FUTURES_APART });
        assert!(jobs.is_of_another(one, STRETCH) && jobs.is_of_another(two, 0));
        assert!(
            !jobs.is_of_another(one, 0) && !jobs.is_of_another(two, 2 * STRETCH),
            "its own, and nobody's"
        );
        jobs.end(two);
        assert!(jobs.is_of_another(one, STRETCH), "as long as the one beside it runs");
        jobs.unused = Numbers { creations: 5, futures: 3 };
        jobs.end(one);
        assert_eq!(jobs.begin().1, jobs.unused, "alone again");
    }

    #[test]
    fn what_a_job_may_have_given_itself_is_no_others() {
        let mut jobs = jobs();
        let (one, _) = jobs.begin();
        let (two, _) = jobs.begin();
        jobs.row(one).expect("it runs").creations.end = 2 * STRETCH;
        assert!(!jobs.is_of_another(one, STRETCH) && jobs.is_of_another(two, 0));
    }
}
