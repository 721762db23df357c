//! Capabilities: what a backend can do by itself; `emulated` does the rest.

/// What one backend offers. Tested set (native equals emulated) and clear.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// `send` works: frames reach other nodes.
    pub messages: bool,
    /// `get` works without help from the target's processor or by the backend's own means.
    pub get: bool,
    /// `put` works likewise.
    pub put: bool,
    /// `get_runs` and `put_runs` work, each where `get` or `put` does, between this node and others.
    pub runs: bool,
    /// `view` can lend a peer's memory in place for shareable regions.
    pub view: bool,
    /// Get and put may have memory of a device at this end, and then at the peer's, too. The network reaches it by itself, as far as it
    /// registers it: what it does not is [`Refused`](crate::TransferError::Refused). Where this is clear, a region of such memory is
    /// [out of reach](crate::TransferError::DeviceMemory), and such memory at this end is a bug of the caller, which `reach` finds.
    pub device: bool,
    /// Get and put finish before the call returns: the path is a memory copy.
    pub immediate: bool,
    /// The longest frame that `send` takes, in bytes; 0 without `messages`.
    pub frame_bytes_max: usize,
}
