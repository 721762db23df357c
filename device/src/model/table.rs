//! Table: how long each method takes for a chunk, by its bytes and those of its blocks.

use crate::method::{Method, Way};
use std::time::Duration;

/// Lengths that are measured; the first is of arguments that are too short for chunks.
pub(crate) const LENGTHS: [u64; 5] = [8 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];

/// Lengths of chunks to choose from: shorter ones are mostly start-up, longer ones do not overlap.
pub(crate) const CHUNK_BYTES: [u64; 4] = [LENGTHS[1], LENGTHS[2], LENGTHS[3], LENGTHS[4]];

/// Lengths of blocks that are measured; the last column is of chunks that are one block.
pub(crate) const BLOCK_BYTES: [u64; 4] = [4, 64, 1 << 10, 16 << 10];

/// Columns of a table.
pub(crate) const COLUMNS: usize = BLOCK_BYTES.len() + 1;

/// Times by length and block; none where it was not tried.
pub(crate) type Times = [[Option<Duration>; COLUMNS]; LENGTHS.len()];

/// Times of all methods, out and in, and of steps within the device.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Table {
    staged: [[Times; Method::ALL.len()]; 2],
    /// By a step from memory of the device to memory of the device, as from memory of another process that is mapped.
    pub(crate) pulled: Times,
}

impl Table {
    pub(crate) fn times(&self, way: Way, method: Method) -> &Times {
        &self.staged[way as usize][method as usize]
    }

    /// The times of all methods, both ways, and of steps, in an order of their own.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Times> {
        self.staged.as_flattened().iter().chain([&self.pulled])
    }

    /// The same, to be written.
    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut Times> {
        self.staged.as_flattened_mut().iter_mut().chain([&mut self.pulled])
    }

    pub(crate) fn times_mut(&mut self, way: Way, method: Method) -> &mut Times {
        &mut self.staged[way as usize][method as usize]
    }
}

/// The row of so many bytes: the shortest length that is as long, or the longest.
pub(crate) fn row(bytes: u64) -> usize {
    LENGTHS.iter().position(|length| *length >= bytes).unwrap_or(LENGTHS.len() - 1)
}

/// The column of blocks in so many bytes: the longest that are no longer; shorter blocks take no less time.
pub(crate) fn column(block_bytes: u64, bytes: u64) -> usize {
    if block_bytes >= bytes {
        return COLUMNS - 1;
    }
    BLOCK_BYTES.iter().rposition(|length| *length <= block_bytes).unwrap_or(0)
}
