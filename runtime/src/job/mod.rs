//! A program's life: its arguments, the start of its processes, one node from its opening to its close, and the list of services.
//!
//! The highest floor: it may use all others, and none of them may use it. A message's way, and what a service does, never stands here.

mod affinity;
pub(crate) mod build;
pub mod config;
pub mod launch;
pub(crate) mod life;
pub(crate) mod limits;
mod program;
pub(crate) mod services;
pub(crate) mod startup;
