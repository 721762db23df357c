//! Takes away, from this process, what copies of memory between processes need, as its surroundings may do at any time.

use clap::ValueEnum;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use serde::{Deserialize, Serialize};

/// What takes it away.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, Serialize, Deserialize)]
pub enum Denial {
    /// A filter answers `EPERM` to the calls that copy; for the process that would copy.
    Sandbox,
    /// The process may not be looked at; for the process that would be copied from and to.
    Undumpable,
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
