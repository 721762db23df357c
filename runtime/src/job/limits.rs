//! Limits of a job, and the environment variable that sets how long its nodes wait for each other.

/// The environment variable that sets how many seconds nodes may wait for each other at start-up.
pub const TIMEOUT_VARIABLE: &str = "CHARE_STARTUP_TIMEOUT";

/// The most PEs of one node: more threads than any host has cores for is a mistyped number.
pub const PES_PER_NODE_MAX: u32 = 4096;

/// The most nodes that one host starts: each pair of them shares a socket, which grows with the square.
pub const NODES_PER_HOST_MAX: u32 = 512;
