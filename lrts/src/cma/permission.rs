//! Permission to copy another process's memory: whether the kernel grants it, why not, and what helps.
//!
//! 1. The kernel asks the same question as for a debugger (ptrace). With the yama security module at level 1, a process
//!    answers it beforehand by naming one process as its debugger, which stands for all that this one has started: [`permit`].
//! 2. A process is opened no further than its neighbours need: not at all where they get in without, then to what its own parent has
//!    started (the nodes of a host have one launcher), and to every process of its user only if that is not enough: [`agree`].
//! 3. Only a try tells whether they get in: read a pattern that the neighbour chose at random from the address it named,
//!    so that another process with the same number is noticed; then write 8 bytes that nobody reads.

#![expect(unsafe_code, reason = "writes into the bytes that a neighbour opened for it")]

use super::sys::{self, Remote};
use crate::bootstrap::Bootstrap;
use crate::error::LrtsError;
use crate::host::Introduction;
use crate::ids::NodeId;
use rustix::io::Errno;
use rustix::process::PTracer;
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;

const YAMA: &str = "/proc/sys/kernel/yama/ptrace_scope";

/// Who may copy a process's memory where yama forbids it and may be asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permit {
    /// This process's parent, and all that the parent has started: the other nodes, if one launcher started them all.
    Launcher,
    /// Every process of this user.
    Anybody,
}

/// Lets others copy this process's memory where yama would forbid it and may be asked (level 1). Elsewhere it does nothing. If the kernel
/// refuses, the neighbours will find out and say so.
pub fn permit(whom: Permit) {
    if yama_level() != Some(1) {
        return;
    }
    let tracer = match whom {
        Permit::Launcher => rustix::process::getppid().map(PTracer::ProcessID),
        Permit::Anybody => Some(PTracer::Any),
    };
    let _ = tracer.map_or(Ok(()), rustix::process::set_ptracer);
}

/// Opens this process to its neighbours step by step, until none asks for more. `asks` probes all neighbours and says whether any has to
/// open itself. Collective: all nodes of the job call it, each with its own neighbours.
///
/// # Errors
/// The bootstrap's.
pub(super) fn agree(
    bootstrap: &mut dyn Bootstrap,
    neighbours: &[NodeId],
    mut asks: impl FnMut() -> bool,
    mut permit: impl FnMut(Permit),
) -> Result<(), LrtsError> {
    for whom in [Permit::Launcher, Permit::Anybody] {
        let asking = bootstrap.all_gather(vec![asks().into()])?;
        let is_asking = |said: &Vec<u8>| *said == [1];
        if !asking.iter().any(is_asking) {
            return Ok(());
        }
        if neighbours.iter().any(|neighbour| is_asking(&asking[neighbour.index()])) {
            permit(whom);
        }
        // Nobody tries again before all have done so.
        bootstrap.all_gather(Vec::new())?;
    }
    asks();
    Ok(())
}

fn yama_level() -> Option<u8> {
    fs::read_to_string(YAMA).ok()?.trim().parse().ok()
}

/// Why a neighbour's memory cannot be copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Denial {
    pub(super) cause: String,
    pub(super) cure: &'static str,
    /// Whether the neighbour could grant it: see [`permit`].
    pub(super) is_grantable: bool,
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
        is_grantable: false,
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
    let is_grantable = error == Errno::PERM && yama_level() == Some(1);
    Denial { cause: format!("{what} process {pid} failed: {error}"), cure, is_grantable }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::local::Local;
    use std::sync::Mutex;
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

    /// What nodes 0 and 1, neighbours of each other, and node 2 on another host have granted in the end, if the first two need `needed`.
    fn granted(needed: Option<Permit>) -> Vec<Vec<Permit>> {
        let granted: Vec<Mutex<Vec<Permit>>> = (0..3).map(|_| Mutex::default()).collect();
        let join = |mut bootstrap: Local| {
            let me = bootstrap.node().index();
            let neighbours: &[NodeId] = [&[NodeId(1)][..], &[NodeId(0)], &[]][me];
            let lacks = |one: &NodeId| {
                needed.is_some_and(|whom| !granted[one.index()].lock().unwrap().contains(&whom))
            };
            let asks = || neighbours.iter().any(lacks);
            agree(&mut bootstrap, neighbours, asks, |whom| granted[me].lock().unwrap().push(whom))
                .expect("all are here");
            assert!(!neighbours.iter().any(lacks), "the last probe succeeds");
        };
        std::thread::scope(|scope| {
            for bootstrap in Local::job(3).expect("descriptors") {
                scope.spawn(|| join(bootstrap));
            }
        });
        granted.into_iter().map(|one| one.into_inner().unwrap()).collect()
    }

    #[test]
    fn nobody_is_opened_further_than_neighbours_need() {
        use Permit::{Anybody, Launcher};
        assert_eq!(granted(None), [vec![], vec![], vec![]]);
        assert_eq!(granted(Some(Launcher)), [vec![Launcher], vec![Launcher], vec![]]);
        assert_eq!(granted(Some(Anybody)), [vec![Launcher, Anybody], vec![Launcher, Anybody], vec![]]);
    }
}
