//! Devices in chares: entries that await their streams, and device buffers as nocopy arguments between processes, over every path.

mod counted;
mod entries;
mod travelling;
