//! Memory registration: keys of pools and of what transfers touch, of the host or of a device.

#![expect(unsafe_code, reason = "registers memory with the device")]

use crate::leased::endpoint::Access;
use crate::memory::{DeviceMemory, Place};
use crate::verbs::queue::Queues;
use rdma_sys::{ibv_access_flags, ibv_dereg_mr, ibv_mr, ibv_reg_dmabuf_mr, ibv_reg_mr};
use rustix::fd::AsRawFd;
use std::io;
use std::ptr::NonNull;

/// The transport whose registrations differ.
pub(super) const IWARP: &str = "iWARP";

/// Memory registered for the life of the endpoint.
pub(super) struct Key(pub(super) NonNull<ibv_mr>);

impl Key {
    /// Registers memory with the device of these queues, which has this transport, until the key is dropped.
    ///
    /// # Errors
    /// The system's: of a dma-buf also that its kernel or its library knows none.
    pub(super) fn pin(queues: &Queues, transport: &str, place: &Place, access: Access) -> io::Result<Self> {
        const LOCAL: ibv_access_flags = ibv_access_flags::IBV_ACCESS_LOCAL_WRITE;
        const READ: ibv_access_flags = ibv_access_flags::IBV_ACCESS_REMOTE_READ;
        const WRITE: ibv_access_flags = ibv_access_flags::IBV_ACCESS_REMOTE_WRITE;
        let flags = match access {
            Access::Sent => ibv_access_flags(0),
            // An iWARP card writes the answer to a read as if the peer had written it.
            Access::Filled if transport == IWARP => LOCAL | WRITE,
            Access::Filled => LOCAL,
            Access::Readable => READ,
            Access::Writable => LOCAL | READ | WRITE,
        };
        let (address, len, domain) = (place.address, place.len, queues.domain);
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
        NonNull::new(region).map(Self).ok_or_else(io::Error::last_os_error)
    }

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
