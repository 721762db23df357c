//! Wrappers: backends around backends, each of which passes on all that it is asked and told, and does one thing more. Never
//! changes what a call means.
//!
//! | wrapper | option | what it does |
//! |---|---|---|
//! | [`Trace`] | `+trace FILE` | writes a line for every frame, get, put and completion |
//! | [`Fault`] | `+fault LIST` | refuses, delays, corrupts, and cuts peers off, as its seed says |
//! | `Tags` | `+tags` | puts a tag on each frame of a network that has none, and checks it |
//!
//! They stand directly around a backend, below [`Emulated`](crate::emulated::Emulated): what they see and harm is what
//! crosses the backend, so a get that is made of messages is frames to them. The trace stands outside, so that it shows what
//! the faults did, and the tags outside of the faults, so that they tell of them. One fault is none of a wrapper: bits flip below a backend's tags, which is the backend's to do.

mod delegation;
mod fault;
#[cfg(feature = "net")]
mod flip;
mod plan;
mod recording;
#[cfg(feature = "net")]
mod tags;
mod trace;
mod wrapped;

use delegation::{inner, pass_on};
pub use fault::Fault;
#[cfg(feature = "net")]
pub(crate) use flip::Flip;
pub use plan::{FaultPlan, FaultPlanError};
pub use recording::{Recording, TraceWindow};
#[cfg(feature = "net")]
pub(crate) use tags::Tags;
pub use trace::{Trace, TraceFile};
pub(crate) use wrapped::{Wrapped, Wrappers};

#[cfg(test)]
mod tests;
