//! Acceptance tests: the promises to users, seen from outside: real programs, real processes, bounded time.

mod denial;
#[cfg(feature = "cuda")]
mod devices;
mod flood;
mod forged;
mod idle;
mod kill;
mod landing;
mod limits;
mod listening;
mod misuse;
#[cfg(feature = "ofi")]
mod ofi;
mod run;
mod seats;
mod sharing;
mod standstill;
mod stats;
#[cfg(feature = "verbs")]
mod verbs;
mod wrappers;
