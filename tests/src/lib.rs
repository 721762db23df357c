//! Test support that several tests and `cargo xtask` share.

#[cfg(feature = "dashboard")]
mod browser;
pub mod chaos;
mod dispositions;
mod family;
mod launcher;
mod program;
#[cfg(feature = "ofi")]
mod providers;
mod running;
mod seat;
mod stats;

#[cfg(feature = "dashboard")]
pub use browser::Browser;
pub use family::{Family, wait_for_end};
pub use launcher::{Launcher, find};
pub use program::Program;
#[cfg(feature = "ofi")]
pub use providers::providers;
pub use running::{Outcome, Running};
pub use seat::{Seat, own_processors};
pub use stats::{Row, counted};
