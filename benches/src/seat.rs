//! Processors for the threads of a peer: those that PEs would take.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The allowed processor with this position, round and round if there are fewer.
pub fn processor(position: usize) -> usize {
    let allowed: Vec<usize> = match sched_getaffinity(None) {
        Ok(set) => (0..CpuSet::MAX_CPU).filter(|processor| set.is_set(*processor)).collect(),
        Err(_) => vec![0],
    };
    allowed[position % allowed.len().max(1)]
}

/// Pins the calling thread. Where that is not allowed it stays unpinned, which the spread will show.
pub fn take_seat(processor: usize) {
    let mut set = CpuSet::new();
    set.set(processor);
    let _ = sched_setaffinity(None, &set);
}
