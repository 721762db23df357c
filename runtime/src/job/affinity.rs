//! Processor affinity: the processor that each PE is pinned to, and its policy while idle.

use super::company::Company;
use crate::delivery::thread::IdlePolicy;
use rustix::thread::{CpuSet, sched_setaffinity};

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

/// Seats for the PEs of a node, so many, that lives in this company. Without a list, a PE that has a processor to itself may spin, and is
/// pinned to it unless a quota says that others use the processors, too. A list is for all PEs of the host, in order.
///
/// # Errors
/// A processor of the list that this process may not use, in words.
pub(crate) fn seats(
    list: Option<&[usize]>,
    pin: bool,
    company: &Company,
    pes: u32,
) -> Result<Vec<Seat>, String> {
    let allowed = &company.processors;
    let list = list.filter(|list| !list.is_empty());
    let (processors, first, has_own, pinned) = match list {
        Some(list) => (list, company.host_first, company.host_pes as usize <= list.len(), pin),
        None => {
            let has_own = company.is_planned && company.pes as usize <= allowed.len();
            (&allowed[..], company.first, has_own, pin && has_own && !company.has_quota)
        }
    };
    let policy = if has_own { IdlePolicy::Spin } else { IdlePolicy::Yield };
    (first..first + pes)
        .map(|rank| {
            let processor = pinned.then(|| processors[rank as usize % processors.len()]);
            match processor.filter(|processor| !allowed.contains(processor)) {
                None => Ok(Seat { processor, policy }),
                Some(missing) => Err(format!(
                    "`+pemap` names processor {missing}, but this process may use only {allowed:?}; change the list or the affinity it starts with"
                )),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes that have a host of four processors to themselves, one of which has this place.
    fn company(pes: u32, first: u32) -> Company {
        let processors = vec![2, 3, 6, 7];
        Company {
            host_pes: pes,
            host_first: first,
            processors,
            pes,
            first,
            is_planned: true,
            ..Company::default()
        }
    }

    fn taken(seats: &[Seat]) -> Vec<Option<usize>> {
        seats.iter().map(|seat| seat.processor).collect()
    }

    #[test]
    fn pes_with_a_processor_each_are_pinned_in_order_within_what_was_given() {
        let seats = seats(None, true, &company(4, 2), 2).unwrap();
        assert_eq!(taken(&seats), [Some(6), Some(7)]);
        assert!(seats.iter().all(|seat| seat.policy == IdlePolicy::Spin));
    }

    #[test]
    fn pes_that_share_processors_are_not_pinned_and_yield() {
        for crowded in [company(5, 0), Company { is_planned: false, ..company(2, 0) }] {
            let seats = seats(None, true, &crowded, 2).unwrap();
            assert_eq!(taken(&seats), [None, None]);
            assert!(seats.iter().all(|seat| seat.policy == IdlePolicy::Yield));
        }
    }

    #[test]
    fn pes_under_a_quota_may_spin_and_are_not_pinned() {
        let seats = seats(None, true, &Company { has_quota: true, ..company(2, 0) }, 2).unwrap();
        assert_eq!(seats, [Seat { processor: None, policy: IdlePolicy::Spin }; 2]);
    }

    #[test]
    fn a_list_is_for_all_pes_of_the_host() {
        let beside = Company { host_pes: 8, host_first: 4, ..company(4, 0) };
        let list = [0, 1, 4, 5, 7, 6, 3, 2];
        assert_eq!(taken(&seats(Some(&list), true, &beside, 2).unwrap()), [Some(7), Some(6)]);
    }

    #[test]
    fn a_processor_that_is_not_there_is_an_error_that_names_it() {
        assert!(seats(Some(&[1_000_000]), true, &company(1, 0), 1).unwrap_err().contains("1000000"));
    }
}
