#![expect(unsafe_code, reason = "writes into the bytes that a neighbour opened for it")]
//! Permission to copy another process's memory: whether the kernel grants it, why not, and what helps.
//!
//! 1. The kernel asks the same question as for a debugger (ptrace). With the yama security module at level 1, a process
//!    answers it beforehand by naming its debuggers: [`permit`], before it tells its neighbours its address.
//! 2. Otherwise only a try tells: read a pattern that the neighbour chose at random from the address it named,
//!    so that another process with the same number is noticed; then write 8 bytes that nobody reads.

use super::sys::{self, Remote};
use crate::host::Introduction;
use rustix::io::Errno;
use rustix::process::PTracer;
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;

const YAMA: &str = "/proc/sys/kernel/yama/ptrace_scope";

/// Lets the other processes of this user copy this process's memory where yama would forbid it and may be
/// asked (level 1). Call it once, before [`HostPeers::open`](crate::host::HostPeers::open). Elsewhere it
/// does nothing. If the kernel refuses, the neighbours will find out and say so.
pub fn permit() {
    if yama_level() == Some(1) {
        let _ = rustix::process::set_ptracer(PTracer::Any);
    }
}

fn yama_level() -> Option<u8> {
    fs::read_to_string(YAMA).ok()?.trim().parse().ok()
}

/// Why a neighbour's memory cannot be copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Denial {
    pub(super) cause: String,
    pub(super) cure: &'static str,
}

impl fmt::Display for Denial {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}; {}", self.cause, self.cure)
    }
}

/// Tries to read from and write to a neighbour.
///
/// # Errors
/// Why it does not work, and what helps.
pub(super) fn probe(introduction: &Introduction) -> Result<(), Denial> {
    let pid = introduction.pid;
    let mut found = [0; 16];
    sys::copy_in(Remote { pid, address: introduction.probe_address }, &mut found)
        .map_err(|error| explain("reading", error, pid))?;
    let [first, second] = introduction.pattern.map(u64::to_ne_bytes);
    if found[..8] != first || found[8..] != second {
        return Err(another_process(pid));
    }
    let scratch = Remote { pid, address: introduction.scratch_address };
    // SAFETY: the pattern proved that this is the neighbour, and it opened eight bytes there to everybody. In
    // this very process they are an atomic that nobody reads.
    unsafe { sys::copy_out(scratch, &first) }.map_err(|error| explain("writing", error, pid))
}

fn another_process(pid: i32) -> Denial {
    Denial {
        cause: format!("process {pid} is another one here"),
        cure: "start the nodes in one pid namespace (containers: share it, e.g. `--pid=host`)",
    }
}

fn explain(what: &'static str, error: Errno, pid: i32) -> Denial {
    if error == Errno::FAULT {
        return another_process(pid);
    }
    let cure = match error {
        Errno::SRCH => "start the nodes in one pid namespace (containers: share it, e.g. `--pid=host`)",
        Errno::NOSYS => "use a kernel with CONFIG_CROSS_MEMORY_ATTACH and a sandbox that lets it through",
        Errno::PERM | Errno::ACCESS => cure_of_denial(pid),
        _ => "run with `+nocma` to do without",
    };
    Denial { cause: format!("{what} process {pid} failed: {error}"), cure }
}

/// The most likely reason for a denial, in the order in which the kernel asks.
fn cure_of_denial(pid: i32) -> &'static str {
    let owner = |pid: &str| fs::metadata(format!("/proc/{pid}")).ok().map(|process| process.uid());
    match yama_level() {
        Some(1) => {
            return "yama allows it only between processes that agreed: set `kernel.yama.ptrace_scope=0`";
        }
        Some(2 | 3) => {
            return "yama forbids it (`kernel.yama.ptrace_scope` is 2 or 3): ask the administrator to set it to 0";
        }
        _ => {}
    }
    match (owner(&pid.to_string()), owner("self")) {
        (Some(0), Some(user)) if user != 0 => {
            "the other process is not dumpable: make the program file readable, without set-user-ID or capabilities"
        }
        (Some(other), Some(user)) if other != user => "run all nodes as one user",
        _ => {
            "a container or sandbox forbids it: allow process_vm_readv and process_vm_writev \
             (containers: `--cap-add=SYS_PTRACE`)"
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::ids::NodeId;
    use std::sync::atomic::{AtomicU64, Ordering};

    static PATTERN: [u64; 2] = [0x1234_5678_9abc_def0, 0x0fed_cba9_8765_4321];
    static SCRATCH: AtomicU64 = AtomicU64::new(0);

    fn introduction() -> Introduction {
        Introduction {
            node: NodeId(1),
            pid: std::process::id() as i32,
            probe_address: PATTERN.as_ptr().addr() as u64,
            pattern: PATTERN,
            scratch_address: SCRATCH.as_ptr().addr() as u64,
            ring_bytes: 0,
        }
    }

    #[test]
    fn the_right_process_passes() {
        assert_eq!(probe(&introduction()), Ok(()));
        assert_eq!(SCRATCH.load(Ordering::Relaxed), PATTERN[0]);
    }

    #[test]
    fn the_wrong_process_is_noticed() {
        let other = Introduction { pattern: [1, 2], ..introduction() };
        assert!(probe(&other).expect_err("denied").cure.contains("pid namespace"));
        let nowhere = Introduction { probe_address: 8, ..introduction() };
        assert!(probe(&nowhere).expect_err("denied").cure.contains("pid namespace"));
        let mut child = std::process::Command::new("true").spawn().expect("a process");
        let pid = child.id() as i32;
        child.wait().expect("it ends");
        let gone = Introduction { pid, ..introduction() };
        let denial = probe(&gone).expect_err("denied");
        assert!(denial.to_string().contains(&pid.to_string()), "{denial}");
    }
}
