//! Device information: what a device is, how much of what it has, and which of its streams go first.

use std::fmt;

/// Identity of a device, the same in all processes of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Uuid(pub [u8; 16]);

impl fmt::Display for Uuid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, byte) in self.0.iter().enumerate() {
            let dash = if matches!(place, 4 | 6 | 8 | 10) { "-" } else { "" };
            write!(out, "{dash}{byte:02x}")?;
        }
        Ok(())
    }
}

/// What a device is. Its [`Display`](fmt::Display) is how messages name it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Info {
    /// What its maker calls it.
    pub name: String,
    /// Its number among those of its kind on this host.
    pub ordinal: u32,
    /// Which one it is.
    pub uuid: Uuid,
    /// Bytes of memory it has for blocks.
    pub memory_bytes: u64,
    /// Bytes of pinned memory that staging may take.
    pub pinned_bytes: u64,
    /// The version of its driver, with which the times change that it takes; none of a device whose times are the machine's.
    pub driver: Option<String>,
    /// Engines that copy while kernels run.
    pub copy_engines: u32,
    /// Whether other processes of the host can map its memory; else what goes between them is staged in the host's.
    pub is_exportable: bool,
    /// Whether networks can register its memory, and then read and write it without the host.
    pub is_registrable: bool,
}

impl fmt::Display for Info {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "device {} ({})", self.ordinal, self.name)
    }
}

/// Which of a device's streams go first. A hint: a device without priorities has all streams alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Priority {
    /// Before the others: short work that somebody waits for.
    High,
    /// As usual.
    #[default]
    Normal,
}
