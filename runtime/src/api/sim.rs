//! Time of programs that predict themselves: what they compute, as a length of time.

#[cfg(feature = "sim")]
pub use crate::pe::costs::Costs;
#[cfg(feature = "sim")]
pub use chare_device::DeviceSpeeds;
use chare_lrts::clock;
#[cfg(feature = "sim")]
pub use chare_lrts::simulated::{Fidelity, LogGops, Network, Shape};
use std::time::Duration;

/// Stands for a computation that takes this long. In a simulated job the clock of the PE goes on by it, at once; in a real one its thread is
/// busy for so long. So one program, whose entries send what they send and compute by this, is measured and predicted.
///
/// [`now`](crate::now()) goes on by it, too, also within the entry.
///
/// ```
/// use std::time::Duration;
///
/// let begin = chare::now();
/// chare::sim::compute(Duration::from_micros(5));
/// assert!(chare::now() - begin >= Duration::from_micros(5));
/// ```
pub fn compute(time: Duration) {
    clock::spend(time);
}
