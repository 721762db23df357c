//! How much memory this process can have: the measure of what other nodes may make it take.

use std::sync::OnceLock;

/// Where a container says how much it grants (cgroup v2, seen from inside).
const CONTAINER: &str = "/sys/fs/cgroup/memory.max";

/// Bytes of memory of this host, or of the container if that has less.
pub(crate) fn host_memory_bytes() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let system = rustix::system::sysinfo();
        let host = (system.totalram as u64).saturating_mul(system.mem_unit.into());
        let granted = std::fs::read_to_string(CONTAINER).ok().and_then(|text| text.trim().parse().ok());
        granted.map_or(host, |granted: u64| granted.min(host))
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_host_has_some_memory() {
        assert!(((64 << 20)..(1 << 60)).contains(&super::host_memory_bytes()));
    }
}
