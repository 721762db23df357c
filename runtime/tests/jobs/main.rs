//! Jobs: their settings, what they outlive, what they drop, and what other jobs and other nodes may do to them.
//!
//! One executable, because each takes seconds to link. Tests that count what a whole process takes have one of their own.

#[path = "../every_path/mod.rs"]
mod every_path;

mod drops;
mod earlier_jobs;
mod flooding;
#[cfg(feature = "sim")]
mod losses;
mod outliving;
mod settings;
