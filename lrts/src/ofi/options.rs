//! Options of the backend `ofi`: the provider and the size of its registration cache.

use crate::leased::REGISTRATIONS;

/// The backend's name.
pub(super) const BACKEND: &str = "ofi";

/// How the backend is opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OfiOptions {
    /// libfabric's name of a provider, such as `tcp;ofi_rxm`; `None`: the best that reaches every node.
    pub provider: Option<String>,
    /// Regions that stay registered with the network while nobody uses them. Each costs the network a key and, with
    /// providers that pin memory, keeps its pages in memory.
    pub registrations_max: usize,
}

impl Default for OfiOptions {
    /// Any provider, and a cache that the smallest network cards can hold.
    fn default() -> Self {
        Self { provider: None, registrations_max: REGISTRATIONS }
    }
}
