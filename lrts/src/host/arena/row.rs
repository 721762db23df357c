//! Rows of arenas: which range of addresses the next arena of this node stands in, behind the others, and by which number neighbours know the
//! range.

use crate::mapping::{Addresses, Mapping};
use crate::memory::Share;
use rustix::fd::OwnedFd;
use rustix::process::Resource;
use std::io;
use std::sync::Arc;

/// Addresses of a row, unless its first arena needs more: of the 128 TiB that a process has, a thousand neighbours take an eighth.
const ROW_BYTES: usize = 16 << 30;

/// The rows of one node.
#[derive(Default)]
pub(super) struct Rows {
    /// Those with arenas.
    count: u32,
    /// The addresses of the last one, unless the kernel did not map an arena there: neighbours would count its place.
    last: Option<Arc<Addresses>>,
}

impl Rows {
    /// Makes an arena behind the last one, or as the first of a new row. Returns with it where it begins, and what a neighbour needs to map it.
    ///
    /// # Errors
    /// The kernel's: no memory, no addresses.
    pub(super) fn add(&mut self, len: usize) -> io::Result<(Mapping, Share, OwnedFd)> {
        let last = self.last.take().filter(|last| last.has_room(len));
        let is_new = last.is_none();
        let addresses = last.map_or_else(|| reserve(len).map(Arc::new), Ok)?;
        let (mapping, descriptor) = Mapping::create_in(&addresses, "chare-arena", len)?;
        let offset = mapping.address().addr() - addresses.first().addr();
        self.count += u32::from(is_new);
        self.last = Some(addresses);
        Ok((mapping, Share { row: self.count - 1, offset: offset as u64 }, descriptor))
    }
}

/// Addresses for a row whose first arena is so long, here or of a neighbour. Where addresses are limited (`ulimit -v`) or scarce, the row has
/// no second one: room for the own row may be there, and be missing in a neighbour, which has those of all others, too.
///
/// # Errors
/// The kernel's: not even so many are left.
pub(in crate::host) fn reserve(first_bytes: usize) -> io::Result<Addresses> {
    let is_limited = rustix::process::getrlimit(Resource::As).current.is_some();
    let row = if is_limited { None } else { Addresses::reserve(first_bytes.max(ROW_BYTES)).ok() };
    row.map_or_else(|| Addresses::reserve(first_bytes), Ok)
}
