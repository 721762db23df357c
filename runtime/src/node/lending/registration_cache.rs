//! Cache of registrations of lent memory: one registration for each block, shared by all receivers of the block, perhaps kept for the
//! next time.
//!
//! 1. A block is known by its [`MemoryId`], not by its address: two owners may lend the same bytes, and each keeps them until its own
//!    receivers are done. The block's entry holds a handle, so that no other block has the id meanwhile.
//! 2. When a block is lent to no receiver any more, its registration ends, unless the registration is to be kept and something besides
//!    the cache still holds the memory. A registration that the network is still reading is not kept: its end tells when the network
//!    reads no more.
//! 3. A registration that is to end is handed out and ended by the caller, without a lock: the memory may have an owner that runs code of
//!    the user.
//! 4. Nobody has to ask for memory that all its receivers map: its registration is kept while there is room.
//! 5. At most [`kept_max`] registrations are kept; the least recently used ones go first. A kept registration whose memory has no other
//!    holder any more goes when the node has time.
//! 6. Memory that is lent may be a piece of what its owner has. Pieces have registrations of their own; as long as one is kept, the whole
//!    has another holder. So all that are idle go together, when the whole is to be writable or has no holder but them.
//! 7. Registrations end in the order in which they were made, whatever the addresses of their blocks: their places on the board, which other
//!    nodes are told, are given out again in that order.

use crate::model::nocopy::Keep;
use chare_lrts::{Held, Memory, MemoryId, RegionKey, Regions, dice};
use rustc_hash::FxHashMap;

chare_lrts::knob! {
    /// Largest number of kept registrations of a node: more than an iteration of most programs sends, few enough for a linear search.
    fn kept_max() -> usize = 256, or [0, 1];
}

/// Most bytes, together, of idle memory whose registrations are kept although nobody asked: it may have no other holder any more.
const UNASKED_BYTES_MAX: usize = 16 << 20;

struct Entry {
    /// Which registration of this cache it is: rule 7.
    serial: u64,
    key: RegionKey,
    memory: Memory,
    /// Number of receivers that the block is lent to.
    users: usize,
    keep: Keep,
    used_at: u64,
}

impl Entry {
    /// Whether only this cache and the registration hold the memory. Pieces of one block are not seen here: see [`Cache::sweep`].
    fn is_orphan(&self) -> bool {
        self.memory.holders() <= HANDLES
    }
}

/// Handles of an entry's memory: the cache's and the registration's.
const HANDLES: usize = 2;

/// A registration of lent memory that is to end.
pub(crate) struct Ended {
    pub(crate) key: RegionKey,
    /// The cache's handle of a block, which may have been lent to several receivers.
    pub(crate) memory: Option<Memory>,
}

/// The registrations of one node's lent memory, by block.
#[derive(Default)]
pub(super) struct Cache {
    entries: FxHashMap<MemoryId, Entry>,
    /// Number of entries whose block is lent to no receiver.
    idle: usize,
    /// Bytes of those blocks.
    idle_bytes: usize,
    now: u64,
    registered: u64,
}

impl Cache {
    /// Registers memory for one more receiver; `keep` says whether to keep the registration after that receiver.
    ///
    /// # Errors
    /// The memory itself, when no more can be registered.
    pub(super) fn acquire(
        &mut self,
        regions: &Regions,
        memory: Memory,
        keep: Keep,
    ) -> Result<RegionKey, Memory> {
        if let Some(entry) = self.entries.get_mut(&memory.id()) {
            if entry.users == 0 {
                self.idle -= 1;
                self.idle_bytes -= entry.memory.len();
            }
            entry.users += 1;
            entry.keep = entry.keep.and(keep);
            return Ok(entry.key);
        }
        if dice::refuses() {
            return Err(memory);
        }
        let key = regions.register(Held::Source(memory.clone())).map_err(|_| memory.clone())?;
        self.registered += 1;
        let serial = self.registered;
        self.entries.insert(memory.id(), Entry { serial, key, memory, users: 1, keep, used_at: 0 });
        Ok(key)
    }

    /// Notes that one receiver is done with a block. Returns a registration that is to end: the block's, or the least recently used one.
    pub(super) fn release(&mut self, regions: &Regions, block: MemoryId) -> Option<Ended> {
        let entry = self.entries.get_mut(&block)?;
        entry.users -= 1;
        if entry.users > 0 {
            return None;
        }
        self.now += 1;
        entry.used_at = self.now;
        self.idle += 1;
        self.idle_bytes += entry.memory.len();
        let is_crowded = self.idle > kept_max();
        let is_over = match entry.keep {
            Keep::No => true,
            Keep::IfRoom => is_crowded || self.idle_bytes > UNASKED_BYTES_MAX || entry.is_orphan(),
            Keep::Asked => entry.is_orphan() || regions.is_claimed(&entry.key),
        };
        if is_over {
            return self.take(block);
        }
        if is_crowded {
            let idle = self.entries.iter().filter(|(_, entry)| entry.users == 0);
            let oldest = idle.min_by_key(|(_, entry)| entry.used_at).map(|(block, _)| *block);
            return self.take(oldest?);
        }
        None
    }

    /// Takes out the registrations of memory and of its pieces that were kept for the next time, which are to end. Costs a look at all
    /// entries.
    pub(super) fn forget(&mut self, memory: &Memory) -> Vec<Ended> {
        let whole = memory.id().block();
        self.take_all(|id, entry| id.block() == whole && entry.users == 0)
    }

    /// Takes out the kept registrations whose memory has no other holder any more, which are to end.
    pub(super) fn sweep(&mut self) -> Vec<Ended> {
        if self.idle == 0 {
            return Vec::new();
        }
        let mut handles = FxHashMap::<usize, usize>::default();
        self.entries.keys().for_each(|id| *handles.entry(id.block()).or_default() += HANDLES);
        self.take_all(|id, entry| entry.users == 0 && entry.memory.holders() <= handles[&id.block()])
    }

    fn take_all(&mut self, is_over: impl Fn(&MemoryId, &Entry) -> bool) -> Vec<Ended> {
        let over = self.entries.iter().filter(|(id, entry)| is_over(id, entry));
        let mut over: Vec<(u64, MemoryId)> = over.map(|(id, entry)| (entry.serial, *id)).collect();
        over.sort_unstable_by_key(|(serial, _)| *serial);
        over.into_iter().filter_map(|(_, id)| self.take(id)).collect()
    }

    fn take(&mut self, block: MemoryId) -> Option<Ended> {
        let Entry { key, memory, .. } = self.entries.remove(&block)?;
        self.idle -= 1;
        self.idle_bytes -= memory.len();
        Some(Ended { key, memory: Some(memory) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chare_lrts::claim::ClaimMode;
    use chare_lrts::{MemoryMut, NodeId};
    use std::sync::Arc;

    fn memory() -> Memory {
        MemoryMut::heap_zeroed(100).freeze()
    }

    fn end(regions: &Regions, ended: impl IntoIterator<Item = Ended>) {
        ended.into_iter().for_each(|ended| drop(regions.deregister(&ended.key).expect("it is live")));
    }

    fn release(cache: &mut Cache, regions: &Regions, block: &Memory) {
        end(regions, cache.release(regions, block.id()));
    }

    fn is_live(regions: &Arc<Regions>, key: &RegionKey) -> bool {
        regions.claim(key, 0, 1, ClaimMode::Read).is_ok()
    }

    #[test]
    fn one_registration_serves_all_who_are_lent_a_block() {
        let (regions, mut cache) = (Arc::new(Regions::new(NodeId(0)).expect("memory")), Cache::default());
        let block = memory();
        let keys = [(); 3].map(|()| cache.acquire(&regions, block.clone(), Keep::No).expect("room"));
        assert_eq!(keys, [keys[0]; 3]);
        for _ in 0..2 {
            release(&mut cache, &regions, &block);
            assert!(is_live(&regions, &keys[0]));
        }
        release(&mut cache, &regions, &block);
        assert!(!is_live(&regions, &keys[0]));
        assert!(block.thaw().is_ok(), "nobody else holds it");
    }

    #[test]
    fn a_kept_registration_is_used_again_until_it_is_forgotten_or_its_memory_dropped() {
        let (regions, mut cache) = (Arc::new(Regions::new(NodeId(0)).expect("memory")), Cache::default());
        let block = memory();
        let again = |cache: &mut Cache| {
            let key = cache.acquire(&regions, block.clone(), Keep::Asked).expect("room");
            release(cache, &regions, &block);
            key
        };
        let key = again(&mut cache);
        assert!(key == again(&mut cache) && is_live(&regions, &key));
        end(&regions, cache.forget(&block));
        assert!(!is_live(&regions, &key));
        let key = cache.acquire(&regions, block.clone(), Keep::Asked).expect("room");
        release(&mut cache, &regions, &block);
        end(&regions, cache.sweep());
        assert!(is_live(&regions, &key), "somebody holds the memory");
        drop(block);
        end(&regions, cache.sweep());
        assert!(!is_live(&regions, &key));
    }

    #[test]
    fn registrations_end_in_the_order_in_which_they_were_made() {
        let (regions, mut cache) = (Arc::new(Regions::new(NodeId(0)).expect("memory")), Cache::default());
        let blocks: Vec<Memory> = (0..100).map(|_| memory()).collect();
        let acquire = |cache: &mut Cache, block: &Memory| {
            cache.acquire(&regions, block.clone(), Keep::Asked).expect("room")
        };
        let keys: Vec<RegionKey> = blocks.iter().map(|block| acquire(&mut cache, block)).collect();
        for block in blocks.iter().rev() {
            release(&mut cache, &regions, block);
        }
        drop(blocks);
        let over = cache.sweep();
        assert_eq!(over.iter().map(|ended| ended.key).collect::<Vec<_>>(), keys);
        end(&regions, over);
    }

    #[test]
    fn registrations_of_pieces_end_when_the_whole_is_to_be_writable_or_has_no_other_holder() {
        let (regions, mut cache) = (Arc::new(Regions::new(NodeId(0)).expect("memory")), Cache::default());
        let lend_pieces = |cache: &mut Cache, whole: &Memory| {
            for start in [0, 50] {
                let piece = whole.slice(start, 50);
                cache.acquire(&regions, piece.clone(), Keep::IfRoom).expect("room");
                release(cache, &regions, &piece);
            }
        };
        let whole = memory();
        lend_pieces(&mut cache, &whole);
        assert!(cache.sweep().is_empty(), "somebody holds the memory");
        end(&regions, cache.forget(&whole));
        let whole = whole.thaw().expect("nobody else holds it").freeze();
        lend_pieces(&mut cache, &whole);
        assert_eq!(cache.idle, 2);
        drop(whole);
        let over = cache.sweep();
        assert_eq!((over.len(), cache.idle), (2, 0));
        end(&regions, over);
    }

    #[test]
    fn what_nobody_asked_for_is_kept_while_there_is_room() {
        let (regions, mut cache) = (Arc::new(Regions::new(NodeId(0)).expect("memory")), Cache::default());
        let again = |cache: &mut Cache, block: &Memory, keep| {
            let key = cache.acquire(&regions, block.clone(), keep).expect("room");
            release(cache, &regions, block);
            key
        };
        let blocks: Vec<Memory> = (0..=kept_max()).map(|_| memory()).collect();
        let keys: Vec<RegionKey> =
            blocks.iter().map(|block| again(&mut cache, block, Keep::IfRoom)).collect();
        assert!(keys[..kept_max()].iter().all(|key| is_live(&regions, key)), "n are kept");
        assert!(!is_live(&regions, &keys[kept_max()]), "one more has no room");
        assert_eq!(again(&mut cache, &blocks[0], Keep::IfRoom), keys[0]);
        assert_eq!(again(&mut cache, &blocks[0], Keep::No), keys[0]);
        assert!(!is_live(&regions, &keys[0]), "another receiver does not map it");
        let long = MemoryMut::heap_zeroed(UNASKED_BYTES_MAX).freeze();
        let key = again(&mut cache, &long, Keep::IfRoom);
        assert!(!is_live(&regions, &key), "it is too long beside the others");
    }

    #[test]
    fn the_least_recently_used_go_first() {
        let (regions, mut cache) = (Arc::new(Regions::new(NodeId(0)).expect("memory")), Cache::default());
        let blocks: Vec<Memory> = (0..=kept_max()).map(|_| memory()).collect();
        let mut keys = Vec::new();
        for block in &blocks[..kept_max()] {
            keys.push(cache.acquire(&regions, block.clone(), Keep::Asked).expect("room"));
            release(&mut cache, &regions, block);
        }
        assert!(keys.iter().all(|key| is_live(&regions, key)), "n pass");
        cache.acquire(&regions, blocks[0].clone(), Keep::Asked).expect("room");
        release(&mut cache, &regions, &blocks[0]);
        cache.acquire(&regions, blocks[kept_max()].clone(), Keep::Asked).expect("room");
        release(&mut cache, &regions, &blocks[kept_max()]);
        let over: Vec<usize> = (0..kept_max()).filter(|index| !is_live(&regions, &keys[*index])).collect();
        assert_eq!(over, [1], "the first was used again");
    }

    #[test]
    fn what_is_still_being_read_is_not_kept() {
        let (regions, mut cache) = (Arc::new(Regions::new(NodeId(0)).expect("memory")), Cache::default());
        let block = memory();
        let key = cache.acquire(&regions, block.clone(), Keep::Asked).expect("room");
        let claim = regions.claim(&key, 0, 1, ClaimMode::Read).expect("it is live");
        release(&mut cache, &regions, &block);
        assert!(!is_live(&regions, &key));
        drop(claim);
        assert_eq!(regions.reap().len(), 1, "its end was waited for");
        assert!(block.thaw().is_ok(), "nobody else holds it");
    }
}
