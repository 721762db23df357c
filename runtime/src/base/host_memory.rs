//! Host memory: how much of it this process can have, which bounds how much other nodes may make it keep.

use super::cgroup;
use std::fs::read_to_string;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// How many nodes share this host's memory, as far as this process knows. Raised by nodes before their PEs start; a process whose jobs
/// have different numbers keeps the greatest. No other memory depends on it.
static SHARERS: AtomicU32 = AtomicU32::new(1);

/// Bytes of memory of this host, or of the control groups that this process is in (a container, a batch job) if these have less.
pub(crate) fn host_memory_bytes() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let system = rustix::system::sysinfo();
        let host = (system.totalram as u64).saturating_mul(system.mem_unit.into());
        let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mounts = read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let granted = cgroup::limit_bytes(&groups, &mounts, |path| read_to_string(path).ok());
        granted.map_or(host, |granted| granted.min(host))
    })
}

/// Notes that so many nodes share this host's memory. To be called before anything asks for [`kept_bytes_max`].
pub(crate) fn share_between(nodes: u32) {
    SHARERS.fetch_max(nodes, Ordering::Relaxed);
}

/// Bytes that other nodes may make this one keep for one purpose, in all: a quarter of its share of the memory.
pub(crate) fn kept_bytes_max() -> u64 {
    host_memory_bytes() / 4 / u64::from(SHARERS.load(Ordering::Relaxed))
}

/// The bytes that are kept for one purpose, up to [`kept_bytes_max`].
#[derive(Default)]
pub(crate) struct Allowance {
    /// Bytes kept; written by any thread. It is a sum, and no other memory depends on it.
    used: AtomicU64,
}

impl Allowance {
    /// Adds `bytes` to those that are kept; returns whether there was room.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        let fits = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= kept_bytes_max());
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }

    /// Gives back `bytes` that are kept no longer.
    pub(crate) fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_host_has_some_memory() {
        assert!(((64 << 20)..(1 << 60)).contains(&super::host_memory_bytes()));
    }

    #[test]
    fn an_allowance_ends_and_comes_back() {
        let (allowance, most) = (super::Allowance::default(), super::kept_bytes_max());
        assert!(!allowance.take(most + 1) && !allowance.take(u64::MAX));
        assert!(allowance.take(most) && !allowance.take(1));
        allowance.give_back(1);
        assert!(allowance.take(1) && !allowance.take(1));
    }
}
