//! Limits of what a command line may ask for.

/// The most nodes that one host starts: each pair of them shares a socket, which grows with the square.
pub const NODES_PER_HOST_MAX: u32 = 512;
