//! Processor affinity: the processor that each PE is pinned to, and its policy while idle.

use crate::delivery::scheduler::IdlePolicy;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::ops::Range;

/// The processor of one PE, if it is pinned, and its policy while idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    processor: Option<usize>,
    policy: IdlePolicy,
}

impl Seat {
    /// Pins the calling thread to its processor; returns its policy while idle.
    pub(crate) fn take(self) -> IdlePolicy {
        if let Some(processor) = self.processor {
            let mut set = CpuSet::new();
            set.set(processor);
            // A processor that went offline since is no reason to fail: the thread runs elsewhere.
            let _ = sched_setaffinity(None, &set);
        }
        self.policy
    }
}

/// Seats for the PEs `own` of the `host_pes` that share this host. A PE that has a processor to itself is pinned and may spin.
///
/// # Errors
/// A processor in the list that this process may not use, in words.
pub(crate) fn seats(
    list: Option<&[usize]>,
    pin: bool,
    host_pes: u32,
    own: Range<u32>,
) -> Result<Vec<Seat>, String> {
    let allowed = allowed_processors();
    if let Some(missing) = list.unwrap_or_default().iter().find(|processor| !allowed.contains(processor)) {
        return Err(format!(
            "`+pemap` names processor {missing}, but this process may use only {allowed:?}; change the list or the affinity it starts with"
        ));
    }
    let processors = list.filter(|list| !list.is_empty()).unwrap_or(&allowed);
    let has_own = host_pes as usize <= processors.len();
    let policy = if has_own { IdlePolicy::Spin } else { IdlePolicy::Yield };
    let pinned = pin && (has_own || list.is_some());
    let seat =
        |rank: u32| Seat { processor: pinned.then(|| processors[rank as usize % processors.len()]), policy };
    Ok(own.map(seat).collect())
}

fn allowed_processors() -> Vec<usize> {
    match sched_getaffinity(None) {
        Ok(set) => (0..CpuSet::MAX_CPU).filter(|processor| set.is_set(*processor)).collect(),
        Err(_) => (0..std::thread::available_parallelism().map_or(1, usize::from)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pes_that_share_processors_are_not_pinned_and_yield() {
        let processors = allowed_processors().len() as u32;
        let seats = seats(None, true, processors + 1, 0..2).unwrap();
        assert!(seats.iter().all(|seat| seat.processor.is_none() && seat.policy == IdlePolicy::Yield));
    }

    #[test]
    fn pes_with_a_processor_each_are_pinned_in_order() {
        let allowed = allowed_processors();
        let seats = seats(None, true, 1, 0..1).unwrap();
        assert_eq!(seats, [Seat { processor: Some(allowed[0]), policy: IdlePolicy::Spin }]);
    }

    #[test]
    fn a_processor_that_is_not_there_is_an_error_that_names_it() {
        assert!(seats(Some(&[1_000_000]), true, 1, 0..1).unwrap_err().contains("1000000"));
    }
}
