//! Table: how long each method takes for a chunk, by its bytes and those of its blocks.

use crate::method::{Method, Way};
use std::time::Duration;

/// Lengths of chunks that are measured and chosen from: shorter ones are mostly start-up, longer ones do not overlap.
pub(crate) const CHUNK_BYTES: [u64; 4] = [64 << 10, 256 << 10, 1 << 20, 4 << 20];

/// Lengths of blocks that are measured; the last column is of chunks that are one block.
pub(crate) const BLOCK_BYTES: [u64; 4] = [4, 64, 1 << 10, 16 << 10];

/// Columns of a table.
pub(crate) const COLUMNS: usize = BLOCK_BYTES.len() + 1;

/// Times by chunk and block; none where a method was not tried.
pub(crate) type Times = [[Option<Duration>; COLUMNS]; CHUNK_BYTES.len()];

/// Times of all methods, out and in.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Table([[Times; Method::ALL.len()]; 2]);

impl Table {
    pub(crate) fn times(&self, way: Way, method: Method) -> &Times {
        &self.0[way as usize][method as usize]
    }

    pub(crate) fn times_mut(&mut self, way: Way, method: Method) -> &mut Times {
        &mut self.0[way as usize][method as usize]
    }
}

/// The row of a chunk: the shortest that is as long, or the longest.
pub(crate) fn row(chunk_bytes: u64) -> usize {
    CHUNK_BYTES.iter().position(|bytes| *bytes >= chunk_bytes).unwrap_or(CHUNK_BYTES.len() - 1)
}

/// The column of blocks in such chunks: the longest that are no longer; shorter blocks take no less time.
pub(crate) fn column(block_bytes: u64, chunk_bytes: u64) -> usize {
    if block_bytes >= chunk_bytes {
        return COLUMNS - 1;
    }
    BLOCK_BYTES.iter().rposition(|bytes| *bytes <= block_bytes).unwrap_or(0)
}
