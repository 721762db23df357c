//! Mappings: address ranges that a backend made, which live until the last owner of what was cut from them is gone.

use crate::memory::registrable::Registrable;
use crate::words::error::DeviceError;
use rustix::fd::OwnedFd;
use std::any::Any;

/// Where bytes lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Domain {
    /// In pinned memory of the host.
    Host,
    /// On a device.
    Device,
}

/// One range of memory, as its backend has it. Dropping it unmaps.
pub(crate) trait Mapping: Any + Send + Sync {
    /// First address, as commands and the user's own kernels name it.
    fn address(&self) -> u64;

    /// Bytes.
    fn len(&self) -> u64;

    /// A descriptor by which another process maps the same memory.
    fn export(&self) -> Result<OwnedFd, DeviceError>;

    /// Where a network finds its first byte.
    fn registrable(&self) -> Result<Registrable, DeviceError>;
}
