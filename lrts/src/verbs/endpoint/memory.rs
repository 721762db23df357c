#![expect(unsafe_code, reason = "registers memory with the device")]
//! Memory registration: keys of pools and of what transfers touch, of the host or of a device.

use super::Endpoint;
use crate::leased::endpoint::Access;
use crate::memory::{DeviceMemory, Place};
use rdma_sys::{ibv_access_flags, ibv_dereg_mr, ibv_mr, ibv_reg_dmabuf_mr, ibv_reg_mr};
use rustix::fd::AsRawFd;
use std::io;
use std::ptr::NonNull;

/// The transport whose registrations differ.
pub(super) const IWARP: &str = "iWARP";

/// Memory registered for the life of the endpoint.
pub(super) struct Key(pub(super) NonNull<ibv_mr>);

impl Key {
    pub(super) fn local(&self) -> u32 {
        // SAFETY: registered until this value ends.
        unsafe { self.0.as_ref().lkey }
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: registered, and never used again.
        unsafe { ibv_dereg_mr(self.0.as_ptr()) };
    }
}

impl Endpoint {
    /// Registers a pool, until its key is dropped.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn pin(&self, address: *const u8, len: usize, access: Access) -> io::Result<Key> {
        self.pin_place(&Place { address, len, device: None }, access)
    }

    /// Registers memory, until its key is dropped.
    ///
    /// # Errors
    /// The system's: of a dma-buf also that its kernel or its library knows none.
    pub(super) fn pin_place(&self, place: &Place, access: Access) -> io::Result<Key> {
        const LOCAL: ibv_access_flags = ibv_access_flags::IBV_ACCESS_LOCAL_WRITE;
        const READ: ibv_access_flags = ibv_access_flags::IBV_ACCESS_REMOTE_READ;
        const WRITE: ibv_access_flags = ibv_access_flags::IBV_ACCESS_REMOTE_WRITE;
        let flags = match access {
            Access::Sent => ibv_access_flags(0),
            // An iWARP card writes the answer to a read as if the peer had written it.
            Access::Filled if self.transport == IWARP => LOCAL | WRITE,
            Access::Filled => LOCAL,
            Access::Readable => READ,
            Access::Writable => LOCAL | READ | WRITE,
        };
        let (address, len, domain) = (place.address, place.len, self.queues.domain);
        let region = match &place.device {
            None | Some(DeviceMemory::Pages) => {
                // SAFETY: the caller keeps the memory until it deregisters; the library only notes the range.
                unsafe { ibv_reg_mr(domain, address.cast_mut().cast(), len, flags.0 as _) }
            }
            Some(DeviceMemory::DmaBuf { descriptor, offset }) => {
                let descriptor = descriptor.as_raw_fd();
                // SAFETY: as above; the address is a name for peers and for own operations, and the descriptor is used during the call.
                unsafe { ibv_reg_dmabuf_mr(domain, *offset, len, address as u64, descriptor, flags.0 as _) }
            }
        };
        NonNull::new(region).map(Key).ok_or_else(io::Error::last_os_error)
    }
}
