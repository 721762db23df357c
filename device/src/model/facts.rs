//! Facts of a transfer: what decides how long a method takes for it.

use chare_layout::Plan;

/// How much there is to copy, in how many pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Bytes of all blocks.
    pub bytes: u64,
    /// Blocks of memory, in which bytes lie side by side on both sides.
    pub blocks: u64,
}

impl Facts {
    /// Those of a plan. Cost: one step for each nest, and for each piece of a list.
    pub fn of(plan: &Plan) -> Self {
        let mut blocks = 0;
        plan.for_each_copy(&mut |copies| {
            blocks += copies.loops.iter().map(|pair| pair.count).product::<u64>();
        });
        Self { bytes: plan.bytes(), blocks }
    }

    /// Bytes of a block, on average.
    pub(crate) fn block_bytes(self) -> u64 {
        self.bytes / self.blocks.max(1)
    }
}
