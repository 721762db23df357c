//! Tables of kernels, staged in pinned memory of the host: the driver copies them when their stream is that far, and no caller waits.
//!
//! 1. Each table is written into memory of its own, which its stream keeps until it is past the copy.
//! 2. The pool has a bound. A table that finds no room gets memory that is made for it alone, and goes with it: that takes the driver longer,
//!    but no step is refused because of earlier ones.
//! 3. The pool is not that of [`Device::pinned`](crate::Device::pinned): whoever stages transfers counts on all of that.

use crate::memory::mapping::{Domain, Mapping};
use crate::memory::pinned::Pinned;
use crate::memory::pool::Pool;
use crate::memory::span::Span;
use crate::words::error::DeviceError;
use crate::words::info::Info;
use std::sync::Arc;

/// Bytes of all tables that streams have not come to: two of 10^6 pieces, of 24 bytes each.
const BYTES_MAX: u64 = 64 << 20;

pub(crate) struct Tables {
    owner: Arc<Info>,
    pool: Pool,
}

impl Tables {
    pub(crate) fn new(owner: &Arc<Info>) -> Self {
        Self::bounded(owner, BYTES_MAX)
    }

    fn bounded(owner: &Arc<Info>, most: u64) -> Self {
        Self { owner: Arc::clone(owner), pool: Pool::new(owner, Domain::Host, most) }
    }

    /// Writes a table into pinned memory that nobody else has; `make` maps so many bytes where there is no room.
    pub(crate) fn stage(
        &self,
        table: &[u8],
        make: impl Fn(u64) -> Result<Box<dyn Mapping>, DeviceError>,
    ) -> Result<Span, DeviceError> {
        let len = table.len() as u64;
        let piece = match self.pool.cut(len, &make) {
            // Its arena goes with the last share in the piece.
            Err(DeviceError::NoRoom { .. }) => Pool::new(&self.owner, Domain::Host, u64::MAX).cut(len, make),
            cut => cut,
        }?;
        let mut pinned = Pinned::new(piece);
        pinned.bytes().expect("nobody else has a share in new memory").copy_from_slice(table);
        Ok(pinned.span())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::software::Software;
    use crate::software::mapped::Mapped;
    use std::cell::Cell;

    /// Pinned memory of a software device stands for that of the driver.
    #[test]
    fn a_table_has_a_place_of_its_own_until_its_stream_gives_it_back() {
        let owner = Arc::new(Software::default().open().info().clone());
        let (tables, made) = (Tables::bounded(&owner, 2 << 20), Cell::new(0));
        let make = |bytes| {
            made.set(made.get() + 1);
            let mapped = Mapped::create(&owner, Domain::Host, bytes)?;
            Ok(Box::new(mapped) as Box<dyn Mapping>)
        };
        let stage = |table: &[u8]| tables.stage(table, make).expect("there is room");

        let first = stage(&[1; 1 << 20]);
        let second = stage(&[2; 512]);
        assert!(!first.overlaps(&second), "the first stream may not have come to its table yet");
        assert_eq!(made.get(), 1, "both lie in one arena");

        let long = stage(&[3; 1 << 20]);
        assert_eq!(made.get(), 2, "what finds no room in the pool has memory of its own");
        drop(long);

        let place = first.address();
        drop(first);
        assert_eq!(
            stage(&[4; 1 << 20]).address(),
            place,
            "a stream that is past its table has given it back"
        );
        assert_eq!(made.get(), 2);
    }
}
