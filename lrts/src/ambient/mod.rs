//! Ambient: what a thread takes from its surroundings: the time, chance, and who it is.
//!
//! Nothing else of this crate and of `chare` asks the machine for these, but for the files that say why (`clippy.toml` keeps it so):
//! whoever drives a node, as a simulation does, then decides them all. A plain thread has the machine's, by one inlined call each.
//!
//! With the feature `sim` a thread may be driven: it carries out steps of many nodes one after another, each in the surroundings that
//! [`Ambient`] holds for its node.

pub(crate) mod caller;
pub mod clock;
#[cfg(feature = "sim")]
mod common;
pub mod dice;
#[cfg(feature = "sim")]
pub(crate) mod driven;
pub mod knobs;
pub mod marks;
mod waiting;

#[cfg(feature = "sim")]
pub use common::Common;
#[cfg(feature = "sim")]
pub use driven::Ambient;
pub use waiting::Waiting;
