//! Posted device buffers, filled, their element type forgotten.

use super::leaving::LeavingDevice;
use chare_device::{DeviceBufferMut, Event};
use chare_layout::Raw;
use std::sync::Arc;

/// A posted device buffer, filled where the layout selects, or up to `len` bytes.
pub(crate) struct DeviceFilled {
    pub(crate) buffer: DeviceBufferMut<u8>,
    pub(crate) layout: Option<Arc<Raw>>,
    pub(crate) len: usize,
    /// The event of the landing, if the entry runs before it.
    pub(crate) landed: Option<Event>,
}

impl DeviceFilled {
    /// What arrived, for a chare that lives elsewhere.
    pub(crate) fn into_leaving(self) -> LeavingDevice {
        let Self { buffer, layout, len, .. } = self;
        let first = || Raw::bytes_of(len as u64).map(Arc::new).ok();
        let layout = layout.or_else(|| (len < buffer.len()).then(first).flatten());
        LeavingDevice { buffer: buffer.freeze(), layout, release: None }
    }
}
