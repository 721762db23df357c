//! Limits of what a command line may ask for.

/// The most PEs of one node: more threads than any host has cores for is a mistyped number.
pub const PES_PER_NODE_MAX: u32 = 4096;

/// The most nodes that one host starts: each pair of them shares a socket, which grows with the square.
pub const NODES_PER_HOST_MAX: u32 = 512;
