//! Devices in chares: entries that await their streams, and device buffers as nocopy arguments between processes, over every path.

mod counted;
mod entries;
#[cfg(feature = "cuda")]
mod hardware;
mod held_back;
#[cfg(any(feature = "ofi", feature = "verbs", feature = "mpi"))]
mod networks;
mod travelling;
