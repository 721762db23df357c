//! Zeros of long buffers: the kernel has them, and nobody writes them.

use chare::{BufferMut, Job};

/// Elements of a buffer of 2 GiB.
const ELEMENTS: usize = 1 << 28;

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("procfs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.expect("the kernel tells") << 10
}

/// Makes a buffer of zeros; returns by how much that grew what is resident.
fn grown() -> u64 {
    let before = resident_bytes();
    let zeros = BufferMut::<u64>::zeroed(ELEMENTS);
    let grown = resident_bytes().saturating_sub(before);
    assert_eq!([zeros[0], zeros[ELEMENTS / 2], zeros[ELEMENTS - 1]], [0; 3]);
    grown
}

#[test]
fn a_long_buffer_of_zeros_takes_no_memory_before_it_is_written() {
    let most = 64 << 20;
    assert!(grown() < most, "outside a job");
    let code = Job::in_process(1, 2).run(move || async move { assert!(grown() < most, "on a PE") });
    assert_eq!(code.unwrap(), 0);
}
