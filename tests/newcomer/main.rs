//! A newcomer's way, in the order of the README: its first command, every example without arguments, output of which only the first
//! line is read; then a service under load of which a chare panics, a job's timeline, and its dashboard. Real processes; build the examples
//! before. That the crates can be packed for a registry is a step of `cargo xtask test`.
//!
//! | file | what the newcomer does |
//! |---|---|
//! | `readme` | runs the first command of the README |
//! | `dependencies` | counts what a first program of one's own is built of |
//! | `examples` | runs every example without arguments, and asks for its help |
//! | `output` | reads no more of the output than a line, or none |
//! | `service` | asks a service from several threads while a chare of it panics, reads its metrics, and stops it |
//! | `timeline` | writes a job's timeline, checks it against the format that viewers read, and has it summed up |
//! | `dashboard` | opens the dashboard of a running job, clicks through it, and reads its metrics |

#[cfg(feature = "dashboard")]
mod dashboard;
mod dependencies;
mod examples;
mod output;
mod readme;
mod service;
mod timeline;
