//! Filled memory: bytes of the host to blocks of a device, and back, waited for.

#![expect(unsafe_code, reason = "gives copies to a stream, of memory that nobody else uses")]

use crate::bed::{Bed, Fallible};
use crate::grid::copy;
use chare_device::Block;

/// Copies bytes to a block.
pub(crate) fn fill(bed: &Bed, block: &Block, bytes: &[u8]) -> Fallible {
    let mut staged = bed.device.pinned(bytes.len() as u64)?;
    staged.bytes().expect("nobody else has new memory").copy_from_slice(bytes);
    copy(bed, &staged.span(), &block.span().part(0..bytes.len() as u64)?)?;
    bed.finish()
}

/// The bytes of a block.
pub(crate) fn read(bed: &Bed, block: &Block) -> Fallible<Vec<u8>> {
    let mut landed = bed.device.pinned(block.len())?;
    copy(bed, &block.span(), &landed.span())?;
    bed.finish()?;
    Ok(landed.bytes().expect("the stream is past it").to_vec())
}

/// Writes zeros.
pub(crate) fn clear<'a>(bed: &Bed, blocks: impl IntoIterator<Item = &'a Block>) -> Fallible {
    for block in blocks {
        // SAFETY: nobody else uses it.
        unsafe { bed.stream.zero(&block.span())? };
    }
    bed.finish()
}
