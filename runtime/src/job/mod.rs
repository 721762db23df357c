//! A program's life: its arguments, the start of its processes, one node from its opening to its close, and the list of services.
//!
//! The highest floor: it may use all others, and none of them may use it. A message's way, and what a service does, never stands here.

mod affinity;
mod asking;
pub(crate) mod build;
mod company;
#[cfg(feature = "launch")]
pub mod config;
pub(crate) mod cpus;
#[cfg(feature = "dashboard")]
mod dashboard;
mod goodbye;
mod greeting;
pub(crate) mod in_process;
#[cfg(feature = "launch")]
pub mod launch;
pub(crate) mod life;
#[cfg(any(feature = "launch", feature = "net"))]
#[cfg_attr(not(feature = "launch"), expect(unreachable_pub, reason = "`launch` shows it"))]
pub(crate) mod patience;
pub(crate) mod pes;
mod program;
pub(crate) mod services;
pub(crate) mod settings;
#[cfg(feature = "sim")]
pub(crate) mod simulated;
pub(crate) mod startup;
