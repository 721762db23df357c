//! Simulated network: frames between nodes that driven threads step, in a time of their own; a seed decides how long each is on its way, or
//! a [model](Network) does.
//! It moves frames alone: get and put are made of them by [`Emulated`](crate::emulated::Emulated), as over TCP.
//!
//! A frame's way is two files: `end` sends it and hands it to the sink, and `wires` has it in between. Whoever drives the nodes lets
//! frames arrive at each one after another ([`Wires::arrive`]).

mod bursts;
mod chance;
mod corruption;
mod end;
mod goodbyes;
mod model;
mod wires;

pub use chance::{Chance, ChanceError, Chances};
pub use end::End;
pub use model::{Kept, LogGops, Network, Shape};
pub use wires::{Arrival, Weather, Wires};
