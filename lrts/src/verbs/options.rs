//! Options of the backend `verbs`: the device and the size of its registration cache.

use crate::leased::REGISTRATIONS;

/// The backend's name.
pub(super) const BACKEND: &str = "verbs";

/// How the backend is opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerbsOptions {
    /// The device, such as `mlx5_0`, or several with commas between them, which the nodes take in turn; `None`: that of the
    /// host's own address, else the first with an address.
    pub device: Option<String>,
    /// Regions that stay registered with the device while nobody uses them, and so in memory. No more than half of what
    /// the device can hold are.
    pub registrations_max: usize,
}

impl Default for VerbsOptions {
    /// The nearest device, and a cache that the smallest network cards can hold.
    fn default() -> Self {
        Self { device: None, registrations_max: REGISTRATIONS }
    }
}
