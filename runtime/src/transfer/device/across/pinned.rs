//! Pinned memory as memory of the host that transfers of the network read and fill, and back.

#![expect(unsafe_code, reason = "shows pinned memory as memory that transfers touch")]

use chare_device::{DeviceError, Landed, Pinned};
use chare_lrts::MemoryMut;

/// Pinned memory that nobody else has a share in, as memory of the host.
///
/// # Panics
/// If somebody has.
pub(in crate::transfer::device) fn as_memory(mut pinned: Pinned) -> MemoryMut {
    let bytes = pinned.bytes().expect("no stream has a share in it");
    let (address, len) = (bytes.as_mut_ptr(), bytes.len());
    // SAFETY: the bytes are mapped, initialised and readable and writable as long as the pinned memory, which is the owner; nobody else
    // has a share in it, and none can come about while it is in the box.
    unsafe { MemoryMut::from_raw_parts(address, len, None, Box::new(pinned)) }
}

/// The pinned memory that memory of the host is.
///
/// # Panics
/// If it is none.
pub(super) fn into_pinned(memory: MemoryMut) -> Pinned {
    *memory.into_owner().downcast().expect("it was pinned memory")
}

/// The pinned memory that a stream has filled.
///
/// # Errors
/// What the device says.
pub(in crate::transfer::device) fn landed_memory(landed: Landed<u8>) -> Result<Pinned, DeviceError> {
    Ok(landed.into_pinned()?.unwrap_or_else(|_| unreachable!("the stream is past it")))
}
