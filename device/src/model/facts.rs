//! Facts of a transfer: what decides how long a method takes for it.

use crate::method::are_rows;
use chare_layout::Plan;

/// How much there is to copy, in how many pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Bytes of all blocks.
    pub bytes: u64,
    /// Blocks of memory, in which bytes lie side by side on both sides.
    pub blocks: u64,
    /// Whether the blocks are rows at equal distances, which one copy of two dimensions takes.
    pub are_rows: bool,
}

impl Facts {
    /// Those of a plan. Cost: one step for each nest, and for each piece of a list.
    pub fn of(plan: &Plan) -> Self {
        let (mut blocks, mut nests, mut are_all_rows) = (0, 0, true);
        plan.for_each_copy(&mut |copies| {
            blocks += copies.loops.iter().map(|pair| pair.count).product::<u64>();
            nests += 1;
            are_all_rows &= matches!(copies.loops, [row] if are_rows(row, copies.block));
        });
        Self { bytes: plan.bytes(), blocks, are_rows: nests == 1 && are_all_rows }
    }

    /// Those of bytes that lie side by side.
    pub fn whole(bytes: u64) -> Self {
        Self { bytes, blocks: 1, are_rows: false }
    }

    /// Bytes of a block, on average.
    pub(crate) fn block_bytes(self) -> u64 {
        self.bytes / self.blocks.max(1)
    }
}
