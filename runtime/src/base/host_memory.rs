//! Host memory: how much of it this process can have, and the part of it that other nodes may make a node keep.

use super::cgroup;
use std::fs::read_to_string;
use std::sync::OnceLock;

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

/// Bytes that other nodes may make one node keep, where so many nodes share this host's memory: a quarter of the node's share.
pub(crate) fn kept_bytes_max(host_nodes: u32) -> u64 {
    host_memory_bytes() / 4 / u64::from(host_nodes)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_host_has_some_memory() {
        assert!(((64 << 20)..(1 << 60)).contains(&super::host_memory_bytes()));
    }
}
