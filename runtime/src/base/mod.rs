//! Threads and memory: fences, queues between two threads, sleep, values whose type only their two ends know, counters.
//!
//! The lowest floor. Here lives code that would make sense in a program without chares. Code that knows a chare, a message, a node or a
//! PE of the job never lives here; where comments say "PE", any thread with work of its own would do.

pub(crate) mod allowance;
pub(crate) mod block_on;
mod cgroup;
pub(crate) mod counters;
pub(crate) mod deadline;
pub(crate) mod dispositions;
pub(crate) mod erased;
pub(crate) mod fence;
pub(crate) mod host_memory;
pub(crate) mod json;
pub(crate) mod last_uses;
pub(crate) mod numbering;
pub(crate) mod panics;
pub(crate) mod processors;
pub(crate) mod recent;
pub(crate) mod reservoir;
pub(crate) mod seen_numbers;
pub(crate) mod sleep;
pub(crate) mod spsc;
pub(crate) mod sync;
pub(crate) mod typed_box;
pub(crate) mod unpark;
pub(crate) mod wake_flag;
pub(crate) mod watcher;
