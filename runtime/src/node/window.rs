//! Window of a node at another one, by which flow control counts.

chare_lrts::knob! {
    /// Credit of one node at another, in bytes: the costs of messages that may be on their way there or wait there. Some 50,000 small
    /// messages, which take a PE longer to run than a network to bring the next ones.
    pub(super) fn window_bytes() -> u64 = 8 << 20, or [1, 4 << 10, 64 << 10];
}
