//! Ambient: what a thread takes from its surroundings: the time, chance, and who it is.
//!
//! Nothing else of this crate and of `chare` asks the machine for these, but for the files that say why (`clippy.toml` keeps it so):
//! whoever drives a node, as a simulation does, then decides them all. A plain thread has the machine's, by one inlined call each.

pub(crate) mod caller;
pub mod clock;
pub mod dice;
