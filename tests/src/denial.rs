//! Denials: this process loses the means by which processes reach each other's memory, as its surroundings may take them at any
//! time.

use clap::ValueEnum;
use rustix::process::{Resource, Rlimit};
use rustix::thread::CapabilitySet;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use serde::{Deserialize, Serialize};
use std::os::fd::AsRawFd;

/// The means that are taken away.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, Serialize, Deserialize)]
pub enum Denial {
    /// A filter answers `EPERM` to the calls that copy; for the process that would copy.
    Sandbox,
    /// The process may not be looked at; for the process that would be copied from and to.
    Undumpable,
    /// No more memory may be pinned for network cards; for a process that has called [`pin_within_limits`].
    Unpinnable,
    /// No more files may be opened, made or received.
    Descriptors,
}

/// Lets this process pin as much as it likes, but only because of its limit: not by the right to exceed it. To be called before there are threads,
/// or devices are open, which know who opened them.
///
/// # Panics
/// If the kernel refuses: that needs root.
pub fn pin_within_limits() {
    let unlimited = Rlimit { current: None, maximum: None };
    rustix::process::setrlimit(Resource::Memlock, unlimited).expect("root may have any limit");
    let mut sets = rustix::thread::capabilities(None).expect("anybody may look");
    for set in [&mut sets.effective, &mut sets.permitted] {
        set.remove(CapabilitySet::IPC_LOCK);
    }
    rustix::thread::set_capabilities(None, sets).expect("anybody may give up rights");
}

impl Denial {
    /// Does it, for all threads of this process. It cannot be undone.
    ///
    /// # Panics
    /// If the kernel refuses.
    pub fn impose(self) {
        match self {
            Self::Sandbox => seccompiler::apply_filter_all_threads(&sandbox()).expect("filters are allowed"),
            Self::Undumpable => {
                let behavior = rustix::process::DumpableBehavior::NotDumpable;
                rustix::process::set_dumpable_behavior(behavior).expect("anybody may hide");
            }
            Self::Descriptors => {
                // The lowest number that is free: all below are taken.
                let null = std::fs::File::open("/dev/null").expect("there was room so far");
                let taken = u64::try_from(null.as_raw_fd()).expect("it is open");
                let nothing = Rlimit { current: Some(taken), maximum: Some(taken) };
                rustix::process::setrlimit(Resource::Nofile, nothing).expect("anybody may want less");
            }
            Self::Unpinnable => {
                let nothing = Rlimit { current: Some(0), maximum: Some(0) };
                rustix::process::setrlimit(Resource::Memlock, nothing).expect("anybody may want less");
            }
        }
    }
}

fn sandbox() -> BpfProgram {
    let copies = [libc::SYS_process_vm_readv, libc::SYS_process_vm_writev];
    let rules = copies.map(|call| (call, Vec::new())).into();
    let architecture = std::env::consts::ARCH.try_into().expect("it has filters");
    let denied = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, denied, architecture);
    filter.and_then(TryInto::try_into).expect("two calls are a small filter")
}
