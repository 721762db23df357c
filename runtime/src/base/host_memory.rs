//! Host memory: how much of it this process can have, and of addresses for it; the part of it that other nodes may make a node keep, and
//! whether any is left.

use super::cgroup::{self, with_groups};
use rustix::process::Resource;
use std::fs::read_to_string;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of memory of this host, or of the control groups that this process is in (a container, a batch job) if these have less.
pub(crate) fn host_memory_bytes() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let system = rustix::system::sysinfo();
        let host = (system.totalram as u64).saturating_mul(system.mem_unit.into());
        with_groups(cgroup::limit_bytes).map_or(host, |granted| granted.min(host))
    })
}

/// The share of one of so many nodes in this host's memory, or the addresses that its process may have (`ulimit -v`, Grid Engine's `h_vmem`)
/// if these are less: without an address there is no memory either, and an allocation that finds none aborts the process.
fn share_bytes(host_nodes: u32) -> u64 {
    let share = host_memory_bytes() / u64::from(host_nodes);
    address_bytes_max().map_or(share, |addresses| addresses.min(share))
}

/// Bytes of addresses that this process may have, if that is limited.
fn address_bytes_max() -> Option<u64> {
    rustix::process::getrlimit(Resource::As).current
}

/// Addresses in bytes that a thread takes before it does anything: the stack that Rust gives it by default, and as much for what it
/// allocates first.
const THREAD_BYTES: u64 = 4 << 20;

/// Whether this process may have addresses for so many threads.
///
/// # Errors
/// A limit of addresses that is too low, in words: the threads would abort the process when they find none.
pub(crate) fn check_room_for_threads(threads: u32) -> Result<(), String> {
    // Eight more: those of launchers, signals and networks.
    let needed = (u64::from(threads) + 8) * THREAD_BYTES;
    match left_addresses() {
        Some(left) if left < needed => Err(format!(
            "this process has {left} bytes of addresses left within its limit (`ulimit -v`, `h_vmem`), and {threads} PEs begin with {needed}: \
             raise the limit, or take fewer PEs (`+p`)"
        )),
        _ => Ok(()),
    }
}

/// Bytes that other nodes may make one node keep, where so many nodes share this host's memory: a quarter of the node's share.
pub(crate) fn kept_bytes_max(host_nodes: u32) -> u64 {
    share_bytes(host_nodes) / 4
}

/// Part of a node's memory (1 / `RESERVE_PART`) below which the host has too little left: what the program's own queues and stacks may
/// still need while the job ends.
const RESERVE_PART: u64 = 32;

/// Part of the memory left (1 / `STEP_PART`) that the nodes of a host may lend and fetch before they look again: the rest is for what the
/// program allocates meanwhile.
const STEP_PART: u64 = 4;

/// Headroom of a node: whether this host has memory left for the buffers that the node lends and fetches.
///
/// Such buffers are the program's own, so their number alone says nothing: a program may lend all of its memory. But it may also lend
/// new buffers without end to a node that takes none. So each time that so many bytes were lent and fetched as a part of what was left,
/// the node looks at what is left now.
pub(crate) struct Headroom {
    host_nodes: u32,
    /// Bytes that may be lent and fetched before the next look. Written by any thread; no other memory depends on it.
    until_look: AtomicU64,
}

impl Headroom {
    /// The headroom of one of so many nodes that share this host's memory.
    pub(crate) fn new(host_nodes: u32) -> Self {
        Self { host_nodes, until_look: AtomicU64::new(0) }
    }

    /// Notes that memory of so many bytes is lent. After a look returns how many bytes may be lent and fetched before the next one.
    ///
    /// # Errors
    /// When the host has hardly any memory left, in words.
    pub(crate) fn lend(&self, bytes: u64) -> Result<Option<u64>, String> {
        self.note(bytes, 0)
    }

    /// Notes that memory of so many bytes is about to be made for a buffer that is fetched; returns what [`Headroom::lend`] does.
    ///
    /// # Errors
    /// When the host has hardly any memory left beside it, in words.
    pub(crate) fn fetch(&self, bytes: u64) -> Result<Option<u64>, String> {
        self.note(bytes, bytes)
    }

    /// Bytes that may come to this node before its share of the host has too little left.
    pub(crate) fn room(&self) -> u64 {
        let share = left_bytes() / u64::from(self.host_nodes);
        let left = left_addresses().map_or(share, |addresses| addresses.min(share));
        left.saturating_sub(share_bytes(self.host_nodes) / RESERVE_PART)
    }

    fn note(&self, bytes: u64, needed_bytes: u64) -> Result<Option<u64>, String> {
        let less = |left: u64| Some(left.saturating_sub(bytes));
        let before = self.until_look.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        if before.is_ok_and(|before| before > bytes) { Ok(None) } else { self.look(needed_bytes).map(Some) }
    }

    #[cold]
    fn look(&self, needed_bytes: u64) -> Result<u64, String> {
        let nodes = u64::from(self.host_nodes);
        let reserve = share_bytes(self.host_nodes) / RESERVE_PART;
        // Addresses are the process's own, and the host's memory is for all its nodes.
        let addresses = left_addresses().map(|left| left.saturating_sub(needed_bytes));
        if let Some(left) = addresses.filter(|left| *left < reserve) {
            return Err(format!(
                "this process has {left} bytes of addresses left within its limit (`ulimit -v`, `h_vmem`); buffers that are sent keep their \
                 memory until their receivers are done with them, so raise the limit, or let senders wait for answers between whiles"
            ));
        }
        let left = left_bytes();
        let rest = left.saturating_sub(needed_bytes);
        if rest < reserve {
            return Err(format!(
                "this host, or the batch job on it, has {left} bytes of memory left; buffers that are sent keep their memory until their \
                 receivers are done with them, so let their senders wait for answers between whiles"
            ));
        }
        let step = addresses.map_or(rest / nodes, |addresses| addresses.min(rest / nodes)) / STEP_PART;
        self.until_look.store(step, Ordering::Relaxed);
        Ok(step)
    }
}

/// Bytes of addresses that this process may still take, if that is limited.
fn left_addresses() -> Option<u64> {
    let limit = address_bytes_max()?;
    let text = read_to_string("/proc/self/status").ok()?;
    let taken = text.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let kilobytes = taken.trim().strip_suffix(" kB")?.parse::<u64>().ok()?;
    Some(limit.saturating_sub(kilobytes << 10))
}

/// Bytes of memory that this host has left, or the tightest control group that this process is in.
fn left_bytes() -> u64 {
    let available = read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    let host = available.map_or(u64::MAX, |kilobytes| kilobytes << 10);
    with_groups(cgroup::left_bytes).map_or(host, |left| left.min(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_some_memory() {
        assert!(((64 << 20)..(1 << 60)).contains(&host_memory_bytes()));
    }

    #[test]
    fn what_the_host_has_is_granted_and_no_more() {
        assert!(left_bytes() <= host_memory_bytes());
        let headroom = Headroom::new(1);
        assert!(headroom.lend(1 << 50).is_ok_and(|step| step.is_some()), "the program has it already");
        assert_eq!(headroom.fetch(1), Ok(None));
        assert!((1..host_memory_bytes()).contains(&headroom.room()));
        assert!(Headroom::new(4).room() < host_memory_bytes() / 4);
        let refusal = headroom.fetch(host_memory_bytes()).unwrap_err();
        assert!(refusal.contains("bytes of memory left"), "{refusal}");
    }
}
