//! Priority of a stream among those of its device.

/// Which of a device's streams go first. A hint: a device without priorities has all streams alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Priority {
    /// Before the others: short work that somebody waits for.
    High,
    /// As usual.
    #[default]
    Normal,
}
