//! Kinds of nocopy parameters: the runtime or a post method provides the memory, of the host or of a device.

/// The way in which a nocopy parameter receives its elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NocopyKind {
    /// `#[nocopy]` of a `Received`: the runtime provides the memory, in which the elements stand side by side.
    Received,
    /// `#[nocopy]` of a `ReceivedView`: the memory is the sender's, where it can be reached.
    Viewed,
    /// `#[nocopy(post)]` of a `Posted`: the post method provides the memory.
    Posted,
    /// `#[nocopy]` of a `DeviceReceived`: the memory is of the device of the receiver's PE.
    DeviceReceived,
    /// `#[nocopy(post)]` of a `DevicePosted`: the post method provides memory of a device.
    DevicePosted,
}

impl NocopyKind {
    /// Whether a post method provides the memory.
    pub(crate) fn is_posted(self) -> bool {
        matches!(self, Self::Posted | Self::DevicePosted)
    }

    /// Whether the memory is a device's.
    pub(crate) fn is_of_device(self) -> bool {
        matches!(self, Self::DeviceReceived | Self::DevicePosted)
    }
}
