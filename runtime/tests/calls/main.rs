//! Calls and their answers: arguments, kinds of entries, waits, priorities, and who calls from where.
//!
//! One executable, because each takes seconds to link. Tests that count what a whole process takes have one of their own.

#[path = "../every_path/mod.rs"]
mod every_path;

mod after;
mod answers;
mod awaited;
mod bounds;
mod clients;
mod deadlines;
mod entry_kinds;
mod mixed_arguments;
mod outside;
mod polymorphic;
mod queueing;
mod seeds;
mod short_arguments;
mod short_limits;
mod traits;
mod urgent;
mod waits;
