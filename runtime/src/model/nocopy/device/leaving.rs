//! Device arguments on their way out, their element type forgotten.

use crate::model::nocopy::release::{HandBack, Release};
use chare_device::{DeviceBuffer, Stream};
use chare_layout::Raw;
use std::sync::Arc;

/// A device argument as the caller gave it, its element type forgotten.
pub struct OutgoingDevice {
    pub(crate) buffer: DeviceBuffer<u8>,
    pub(crate) layout: Option<Arc<Raw>>,
    /// The stream that has to be as far as it was when the call was made.
    pub(crate) after: Option<Stream>,
    pub(crate) hand_back: Option<HandBack>,
}

/// A device argument on its way that has not left its process.
#[derive(Clone)]
pub(crate) struct LeavingDevice {
    pub(crate) buffer: DeviceBuffer<u8>,
    /// The selection that is meant, if not the whole buffer.
    pub(crate) layout: Option<Arc<Raw>>,
    pub(crate) release: Option<Arc<Release>>,
}

impl LeavingDevice {
    /// Bytes of the argument, packed.
    pub(crate) fn bytes(&self) -> usize {
        packed_bytes(&self.buffer, self.layout.as_deref())
    }
}

/// Bytes of what a layout selects of a buffer, or of all of it.
pub(crate) fn packed_bytes(buffer: &DeviceBuffer<u8>, layout: Option<&Raw>) -> usize {
    layout.map_or(buffer.len(), |layout| layout.bytes() as usize)
}
