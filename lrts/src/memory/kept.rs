//! Kept blocks: long blocks of the heap that nobody uses any more, for the next memory of such a length. Fresh memory costs a fault and a
//! clearing of each page, which together take longer than the copy that fills it.
//!
//! 1. A block comes back when the last handle of its memory is dropped, on any thread, with the bytes that it then has.
//! 2. A block serves lengths down to half its own.
//! 3. As many blocks and bytes lie here as are allowed; what has lain longest goes first.
//! 4. What has lain from one look to the next ([`KeptBlocks::give_back`]) goes back to the system.

#![expect(unsafe_code, reason = "hands out blocks of the heap as owned memory")]

use super::heap::HeapBlock;
use super::huge::{HUGE_BYTES_MIN, ask_for_huge_pages};
use super::{MemoryMut, Owner};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

/// The shortest block that is kept: what is shorter, the allocator keeps itself (`M_MMAP_THRESHOLD` of mallopt(3)).
const SHORTEST: usize = 128 << 10;

/// The longest: as with arenas, more than most transfers, and less than would hurt a host.
const LONGEST: usize = 256 << 20;

/// Blocks that lie here at most: a few for each PE of a busy node.
const BLOCKS_MAX: usize = 16;

/// The kept blocks of a node.
pub(crate) struct KeptBlocks {
    free: Mutex<Free>,
}

struct Free {
    /// What has lain longest stands in front.
    blocks: VecDeque<Lying>,
    bytes: usize,
    bytes_max: usize,
}

struct Lying {
    block: HeapBlock,
    /// Whether a look has found it here.
    was_seen: bool,
}

impl Default for KeptBlocks {
    fn default() -> Self {
        Self { free: Mutex::new(Free { blocks: VecDeque::new(), bytes: 0, bytes_max: LONGEST }) }
    }
}

impl KeptBlocks {
    /// Memory of this length, whose bytes are whatever they were before; `None` for a length of which none is kept, or when so much cannot
    /// be had.
    pub(crate) fn allocate(self: &Arc<Self>, len: usize) -> Option<MemoryMut> {
        if !(SHORTEST..=LONGEST).contains(&len) {
            return None;
        }
        let block = self.free.lock().take(len).or_else(|| fresh(len))?;
        let address = block.start();
        let owner: Owner = Box::new(Held { block: Some(block), home: Arc::downgrade(self) });
        // SAFETY: the bytes lie in the block, which is at least as long and lives in `owner`; it was made of zeros, so they are initialised, and
        // nobody else reaches a block that was taken out.
        Some(unsafe { MemoryMut::from_raw_parts(address, len, None, owner) })
    }

    /// Has no more bytes lie here than so many, until another limit is said.
    pub(crate) fn limit(&self, bytes: usize) {
        let mut free = self.free.lock();
        free.bytes_max = bytes.min(LONGEST);
        let gone = free.shrink();
        drop(free);
        drop(gone);
    }

    /// Whether any lie here.
    pub(crate) fn are_some_unused(&self) -> bool {
        !self.free.lock().blocks.is_empty()
    }

    /// Gives the system what lay here at the last look already. Returns whether anything is left.
    pub(crate) fn give_back(&self) -> bool {
        let mut free = self.free.lock();
        let unused = free.blocks.iter().take_while(|lying| lying.was_seen).count();
        let gone: Vec<Lying> = free.blocks.drain(..unused).collect();
        free.bytes -= gone.iter().map(|lying| lying.block.len).sum::<usize>();
        free.blocks.iter_mut().for_each(|lying| lying.was_seen = true);
        let is_anything_left = !free.blocks.is_empty();
        drop(free);
        drop(gone);
        is_anything_left
    }

    fn put(&self, block: HeapBlock) {
        let mut free = self.free.lock();
        free.bytes += block.len;
        free.blocks.push_back(Lying { block, was_seen: false });
        let gone = free.shrink();
        // The system takes its time to unmap.
        drop(free);
        drop(gone);
    }
}

impl Free {
    fn take(&mut self, len: usize) -> Option<HeapBlock> {
        let fits = |lying: &Lying| lying.block.len >= len && lying.block.len / 2 <= len;
        // The one that was used last is the one that caches know.
        let place = self.blocks.iter().rposition(fits)?;
        let taken = self.blocks.remove(place)?;
        self.bytes -= taken.block.len;
        Some(taken.block)
    }

    /// What has no room, to be dropped where nobody waits for it.
    fn shrink(&mut self) -> Vec<Lying> {
        let mut gone = Vec::new();
        while self.bytes > self.bytes_max || self.blocks.len() > BLOCKS_MAX {
            let Some(oldest) = self.blocks.pop_front() else { break };
            self.bytes -= oldest.block.len;
            gone.push(oldest);
        }
        gone
    }
}

/// A block with some room beyond `len`, so that lengths which differ a little share it. Room that nobody touches costs addresses alone.
fn fresh(len: usize) -> Option<HeapBlock> {
    let room = len.next_multiple_of(len.next_power_of_two() / 32);
    let mut block = HeapBlock::zeroed(room)?;
    if len >= HUGE_BYTES_MIN {
        ask_for_huge_pages(block.room());
    }
    Some(block)
}

/// A block that is in use.
struct Held {
    block: Option<HeapBlock>,
    home: Weak<KeptBlocks>,
}

impl Drop for Held {
    fn drop(&mut self) {
        if let (Some(block), Some(home)) = (self.block.take(), self.home.upgrade()) {
            home.put(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn memory_comes_again_for_lengths_down_to_half() {
        let kept = Arc::new(KeptBlocks::default());
        let mut memory = kept.allocate(MIB).expect("there is that much");
        assert!(memory.as_slice().iter().all(|byte| *byte == 0), "it is fresh");
        memory.as_mut_slice().fill(7);
        let address = memory.address();
        let shared = memory.freeze();
        let clone = shared.clone();
        drop(shared);
        let other = kept.allocate(MIB).expect("there is that much");
        assert_ne!(other.address(), address, "it is still held");
        drop((clone, other));
        // The one that came back last.
        let last = kept.allocate(MIB - 3).expect("there is that much");
        let first = kept.allocate(MIB / 2).expect("there is that much");
        assert!(last.address() != address && first.address() == address);
        assert_eq!((first.len(), first.as_slice()[0]), (MIB / 2, 7));
        drop(first);
        assert_ne!(kept.allocate(MIB / 2 - 1).expect("there is that much").address(), address);
    }

    #[test]
    fn what_is_short_or_very_long_is_not_kept() {
        let kept = Arc::new(KeptBlocks::default());
        assert!(
            [0, 1, SHORTEST - 1, LONGEST + 1, usize::MAX].iter().all(|len| kept.allocate(*len).is_none())
        );
        assert!([SHORTEST, LONGEST].iter().all(|len| kept.allocate(*len).is_some()));
    }

    #[test]
    fn no_more_lies_here_than_is_allowed() {
        let kept = Arc::new(KeptBlocks::default());
        let state = || {
            let free = kept.free.lock();
            (free.blocks.len(), free.bytes)
        };
        let many: Vec<_> = (0..BLOCKS_MAX + 1).map(|_| kept.allocate(MIB)).collect();
        drop(many);
        assert_eq!(state(), (BLOCKS_MAX, BLOCKS_MAX * MIB));
        kept.limit(3 * MIB);
        assert_eq!(state(), (3, 3 * MIB));
        drop(kept.allocate(4 * MIB));
        assert_eq!(state(), (0, 0), "one that is too long goes itself");
        drop(kept.allocate(MIB));
        assert_eq!(state(), (1, MIB));
        kept.limit(usize::MAX);
        drop(kept.allocate(LONGEST));
        assert_eq!(state(), (1, LONGEST), "there is room again, for as much as the longest");
    }

    #[test]
    fn what_nobody_used_from_one_look_to_the_next_is_given_back() {
        let kept = Arc::new(KeptBlocks::default());
        assert!(!kept.give_back());
        drop((kept.allocate(MIB), kept.allocate(MIB)));
        assert!(kept.give_back(), "they have just come");
        drop(kept.allocate(MIB));
        assert!(kept.give_back(), "one of them was used since");
        assert_eq!(kept.free.lock().bytes, MIB);
        assert!(!kept.give_back());
        let held = kept.allocate(MIB);
        drop(kept);
        drop(held);
    }
}
