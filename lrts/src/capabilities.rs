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
    /// `view` can lend a peer's memory in place for shareable regions.
    pub view: bool,
    /// Get and put finish before the call returns: the path is a memory copy.
    pub immediate: bool,
    /// The longest frame that `send` takes, in bytes; 0 without `messages`.
    pub frame_bytes_max: usize,
}
