//! Registrations of lent memory: one for each block, shared by all who are lent it, perhaps kept for the next time.
//!
//! 1. A block is known by address and length. Its entry holds a handle, so that no other memory can lie there meanwhile.
//! 2. When nobody is lent it any more its registration ends, unless it is to be kept and somebody else still holds the memory.
//! 3. What ends is handed out and dropped by the caller, without a lock: memory may have an owner that runs code of the user's.
//! 4. At most [`KEPT_MAX`] registrations are kept; the least recently used ones go first. One whose memory nobody holds any more goes
//!    when the node has time.

use chare_lrts::{Held, Memory, RegionKey, Regions, TransferError};
use rustc_hash::FxHashMap;

/// Kept registrations of a node: more than an iteration of most programs sends, few enough to look through.
const KEPT_MAX: usize = 256;

/// A block of memory: address and length.
type Block = (usize, usize);

struct Entry {
    key: RegionKey,
    memory: Memory,
    /// How many are lent it.
    users: usize,
    kept: bool,
    used_at: u64,
}

impl Entry {
    /// Whether only this cache and the registration hold the memory.
    fn is_orphan(&self) -> bool {
        self.memory.holders() <= 2
    }
}

/// See the file's head.
#[derive(Default)]
pub(super) struct Cache {
    entries: FxHashMap<Block, Entry>,
    /// Entries that nobody is lent.
    idle: usize,
    now: u64,
}

pub(super) fn block_of(memory: &Memory) -> Block {
    (memory.address() as usize, memory.len())
}

impl Cache {
    /// Registers memory for one more receiver; `keep` is for the time after.
    ///
    /// # Errors
    /// The memory itself, when no more can be registered.
    pub(super) fn acquire(
        &mut self,
        regions: &Regions,
        memory: Memory,
        keep: bool,
    ) -> Result<RegionKey, Memory> {
        if let Some(entry) = self.entries.get_mut(&block_of(&memory)) {
            self.idle -= usize::from(entry.users == 0);
            entry.users += 1;
            entry.kept |= keep;
            return Ok(entry.key);
        }
        let key = regions.register(Held::Source(memory.clone())).map_err(|_| memory.clone())?;
        self.entries.insert(block_of(&memory), Entry { key, memory, users: 1, kept: keep, used_at: 0 });
        Ok(key)
    }

    /// One receiver is done with a block. Returns memory whose registration ended.
    ///
    /// # Errors
    /// When it has ended by other means.
    pub(super) fn release(
        &mut self,
        regions: &Regions,
        block: Block,
    ) -> Result<Option<Memory>, TransferError> {
        let Some(entry) = self.entries.get_mut(&block) else { return Ok(None) };
        entry.users -= 1;
        if entry.users > 0 {
            return Ok(None);
        }
        self.now += 1;
        entry.used_at = self.now;
        self.idle += 1;
        if !entry.kept || entry.is_orphan() {
            return self.end(regions, block);
        }
        if self.idle > KEPT_MAX {
            let idle = self.entries.iter().filter(|(_, entry)| entry.users == 0);
            if let Some(oldest) = idle.min_by_key(|(_, entry)| entry.used_at).map(|(block, _)| *block) {
                return self.end(regions, oldest);
            }
        }
        Ok(None)
    }

    /// Ends a registration that is kept for the next time. Returns its memory.
    pub(super) fn forget(&mut self, regions: &Regions, memory: &Memory) -> Option<Memory> {
        let block = block_of(memory);
        self.entries.get(&block).filter(|entry| entry.users == 0)?;
        self.end(regions, block).ok().flatten()
    }

    /// Ends kept registrations of memory that nobody holds any more, which it returns.
    pub(super) fn sweep(&mut self, regions: &Regions) -> Vec<Memory> {
        if self.idle == 0 {
            return Vec::new();
        }
        let is_over = |entry: &Entry| entry.users == 0 && entry.is_orphan();
        let over: Vec<Block> =
            self.entries.iter().filter(|(_, entry)| is_over(entry)).map(|(block, _)| *block).collect();
        over.into_iter().filter_map(|block| self.end(regions, block).ok().flatten()).collect()
    }

    fn end(&mut self, regions: &Regions, block: Block) -> Result<Option<Memory>, TransferError> {
        let Some(entry) = self.entries.remove(&block) else { return Ok(None) };
        self.idle -= 1;
        // The entry's own handle is left, so this one is not the last.
        drop(regions.deregister(&entry.key)?);
        Ok(Some(entry.memory))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chare_lrts::{MemoryMut, NodeId};
    use std::sync::Arc;

    fn memory() -> Memory {
        MemoryMut::heap_zeroed(100).freeze()
    }

    fn is_live(regions: &Arc<Regions>, key: &RegionKey) -> bool {
        regions.claim(key, 0, 1, chare_lrts::claim::ClaimMode::Read).is_ok()
    }

    #[test]
    fn one_registration_serves_all_who_are_lent_a_block() {
        let (regions, mut cache) = (Arc::new(Regions::new(NodeId(0)).expect("memory")), Cache::default());
        let block = memory();
        let keys = [(); 3].map(|()| cache.acquire(&regions, block.clone(), false).expect("room"));
        assert_eq!(keys, [keys[0]; 3]);
        for _ in 0..2 {
            cache.release(&regions, block_of(&block)).expect("it is out");
            assert!(is_live(&regions, &keys[0]));
        }
        cache.release(&regions, block_of(&block)).expect("it is out");
        assert!(!is_live(&regions, &keys[0]));
        assert!(block.thaw().is_ok(), "nobody else holds it");
    }

    #[test]
    fn a_kept_registration_is_used_again_until_it_is_forgotten_or_its_memory_dropped() {
        let (regions, mut cache) = (Arc::new(Regions::new(NodeId(0)).expect("memory")), Cache::default());
        let block = memory();
        let mut again = || {
            let key = cache.acquire(&regions, block.clone(), true).expect("room");
            cache.release(&regions, block_of(&block)).expect("it is out");
            key
        };
        let key = again();
        assert!(key == again() && is_live(&regions, &key));
        cache.forget(&regions, &block);
        assert!(!is_live(&regions, &key));
        let key = cache.acquire(&regions, block.clone(), true).expect("room");
        cache.release(&regions, block_of(&block)).expect("it is out");
        cache.sweep(&regions);
        assert!(is_live(&regions, &key), "somebody holds the memory");
        drop(block);
        cache.sweep(&regions);
        assert!(!is_live(&regions, &key));
    }

    #[test]
    fn the_least_recently_used_go_first() {
        let (regions, mut cache) = (Arc::new(Regions::new(NodeId(0)).expect("memory")), Cache::default());
        let blocks: Vec<Memory> = (0..=KEPT_MAX).map(|_| memory()).collect();
        let mut keys = Vec::new();
        for block in &blocks[..KEPT_MAX] {
            keys.push(cache.acquire(&regions, block.clone(), true).expect("room"));
            cache.release(&regions, block_of(block)).expect("it is out");
        }
        assert!(keys.iter().all(|key| is_live(&regions, key)), "n pass");
        cache.acquire(&regions, blocks[0].clone(), true).expect("room");
        cache.release(&regions, block_of(&blocks[0])).expect("it is out");
        cache.acquire(&regions, blocks[KEPT_MAX].clone(), true).expect("room");
        cache.release(&regions, block_of(&blocks[KEPT_MAX])).expect("it is out");
        let over: Vec<usize> = (0..KEPT_MAX).filter(|index| !is_live(&regions, &keys[*index])).collect();
        assert_eq!(over, [1], "the first was used again");
    }
}
