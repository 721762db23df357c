//! A program's life: its arguments, how its processes are started and meet, one node from its opening to its close, and the list of services.
//!
//! The floor that knows all others. Nothing below may know it.

mod affinity;
pub mod config;
pub mod launch;
pub(crate) mod life;
pub(crate) mod limits;
mod program;
pub(crate) mod services;
pub(crate) mod startup;
