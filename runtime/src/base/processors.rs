//! Processors that this process was given: those that it may run on, and the quota of their time.
//!
//! A binding (`taskset`, `srun -c`, `mpirun --bind-to`) and a cpuset of a control group both show in the set of processors that the kernel
//! lets a thread run on. A quota (`docker run --cpus`) does not: only the control groups tell it.

use super::cgroup::{self, with_groups};
use rustix::thread::{CpuSet, sched_getaffinity};
use serde::{Deserialize, Serialize};
use std::os::unix::fs::MetadataExt;

/// Processors and a quota, as processes of one host compare theirs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Processors {
    /// A bit for each, from the lowest of the first byte on; no byte at the end is empty.
    bits: Vec<u8>,
    quota: Option<Quota>,
}

/// A quota of processor time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Quota {
    /// Thousandths of a processor.
    pub(crate) thousandths: u64,
    /// What the kernel calls the group that has it: all processes in it share it.
    pub(crate) group: u64,
}

impl Processors {
    /// Those of the calling thread.
    pub(crate) fn of_this_thread() -> Self {
        let set: Vec<usize> = match sched_getaffinity(None) {
            Ok(set) => (0..CpuSet::MAX_CPU).filter(|processor| set.is_set(*processor)).collect(),
            Err(_) => (0..std::thread::available_parallelism().map_or(1, usize::from)).collect(),
        };
        let quota = with_groups(cgroup::quota).and_then(|(thousandths, folder)| {
            Some(Quota { thousandths, group: std::fs::metadata(folder).ok()?.ino() })
        });
        Self::new(&set, quota)
    }

    /// A set, and the quota that goes with it.
    pub(crate) fn new(set: &[usize], quota: Option<Quota>) -> Self {
        let mut bits = vec![0; set.iter().max().map_or(0, |last| last / 8 + 1)];
        for processor in set {
            bits[processor / 8] |= 1 << (processor % 8);
        }
        Self { bits, quota }
    }

    /// The processors, in order.
    pub(crate) fn list(&self) -> Vec<usize> {
        let bits = (0..8 * self.bits.len()).filter(|bit| self.bits[bit / 8] & 1 << (bit % 8) != 0);
        bits.collect()
    }

    /// Whether both may run on some processor.
    pub(crate) fn overlap(&self, other: &Self) -> bool {
        self.bits.iter().zip(&other.bits).any(|(one, other)| one & other != 0)
    }

    /// The set as bits: equal for equal sets.
    pub(crate) fn bits(&self) -> &[u8] {
        &self.bits
    }

    /// How many processors there are.
    pub(crate) fn count(&self) -> u32 {
        self.bits.iter().map(|byte| byte.count_ones()).sum()
    }

    /// The quota, if there is one that is less than the processors.
    pub(crate) fn quota(&self) -> Option<Quota> {
        self.quota.filter(|quota| quota.thousandths < 1000 * u64::from(self.count()))
    }
}

impl Quota {
    /// Whole processors.
    pub(crate) fn processors(self) -> u32 {
        u32::try_from(self.thousandths / 1000).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_told_apart() {
        let [one, same, other, wide] =
            [&[0, 9][..], &[9, 0], &[1, 8], &[8, 9, 70]].map(|set| Processors::new(set, None));
        assert_eq!(one.list(), [0, 9]);
        assert_eq!(wide.list(), [8, 9, 70]);
        assert!(one.bits() == same.bits() && one.overlap(&same));
        assert!(one.bits() != other.bits() && !one.overlap(&other));
        assert!(one.count() < wide.count() && one.overlap(&wide) && wide.overlap(&one));
        assert!(Processors::default().list().is_empty());
    }

    #[test]
    fn a_quota_counts_where_it_is_less_than_the_processors() {
        let with = |thousandths| Processors::new(&[0, 1], Some(Quota { thousandths, group: 7 })).quota();
        assert_eq!(with(2000), None);
        assert_eq!(with(1999).map(Quota::processors), Some(1));
    }

    #[test]
    fn this_thread_may_run_somewhere() {
        assert!(!Processors::of_this_thread().list().is_empty());
    }
}
