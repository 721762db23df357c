//! Our side for memory: gets through the trait and nothing above it, of a buffer that stays registered.

use crate::node::{self, Node};
use chare_benches::Batches;
use chare_lrts::{Get, Held, Lrts, MemoryMut, NodeId, Posted, Put, RegionKey, TransferError};
use std::process::ExitCode;
use std::time::Instant;

/// Which way the bytes go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Get,
    /// So many gets under way at a time: what the path carries when nobody waits for an answer.
    Gets(usize),
    Put,
}

/// Node 0 reads or writes the same buffer of node 1 again and again; over `memcpy`, one of its own.
pub(crate) fn again_and_again(batches: Batches, way: Way, backend: &str, len: usize) -> ExitCode {
    let is_own = backend == "memcpy";
    node::run(if is_own { "shm" } else { backend }, |node| {
        if node.id == NodeId(1) {
            let key = offer(node, len);
            node.send(&[&key.slot.to_le_bytes()[..], &key.generation.to_le_bytes()].concat());
            // Serves until the other node is done.
            node.hear();
            return Ok(());
        }
        let told = node.hear();
        let key = if is_own { Some(offer(node, len)) } else { told.and_then(|bytes| read_key(&bytes, len)) };
        let key = key.ok_or(TransferError::PeerLost(NodeId(1)))?;
        match way {
            Way::Get => get(batches, node, key, len, 1)?,
            Way::Gets(under_way) => get(batches, node, key, len, under_way)?,
            Way::Put => put(batches, node, key, len)?,
        }
        node.send(&[]);
        Ok(())
    })
}

/// Registers a buffer for reading and writing, in shareable memory where there is any.
fn offer(node: &Node, len: usize) -> RegionKey {
    let mut memory = node.reach.allocate(len);
    memory.as_mut_slice().fill(7);
    node.reach.regions().register(Held::Target(memory)).expect("the table is empty")
}

fn read_key(bytes: &[u8], len: usize) -> Option<RegionKey> {
    let (slot, generation) = bytes.split_first_chunk()?;
    let generation = u64::from_le_bytes(generation.try_into().ok()?);
    Some(RegionKey { node: NodeId(1), slot: u32::from_le_bytes(*slot), generation, len: len as u64 })
}

fn get(
    batches: Batches,
    node: &mut Node,
    key: RegionKey,
    len: usize,
    under_way: usize,
) -> Result<(), TransferError> {
    let mut free: Vec<MemoryMut> = (0..under_way).map(|_| filled(len)).collect();
    let mut outcome = Ok(());
    batches.run(|gets| {
        let began = Instant::now();
        for begun in 0..gets + under_way as u64 {
            // The last ones are waited for, and none is begun in their place.
            if free.is_empty() || (begun >= gets && free.len() < under_way) {
                let completion = node.complete();
                outcome = outcome.clone().and(completion.result.map(drop));
                free.extend(completion.memory);
            }
            if begun < gets {
                let into = free.pop().expect("it came back");
                let get = Get { key, offset: 0, into, len, token: 0 };
                if let Posted::Done(completion) = node.reach.get(get).expect("nobody else touches the region")
                {
                    outcome = outcome.clone().and(completion.result.map(drop));
                    free.extend(completion.memory);
                }
            }
        }
        began.elapsed()
    });
    outcome
}

fn put(batches: Batches, node: &mut Node, key: RegionKey, len: usize) -> Result<(), TransferError> {
    let from = filled(len).freeze();
    let mut outcome = Ok(());
    batches.run(|puts| {
        let began = Instant::now();
        for _ in 0..puts {
            let put = Put { key, offset: 0, from: from.clone(), token: 0 };
            let completion = match node.reach.put(put).expect("nobody else touches the region") {
                Posted::Done(completion) => completion,
                Posted::Pending => node.complete(),
            };
            outcome = outcome.clone().and(completion.result.map(drop));
        }
        began.elapsed()
    });
    outcome
}

fn filled(len: usize) -> MemoryMut {
    let mut memory = MemoryMut::heap_zeroed(len);
    memory.as_mut_slice().fill(1);
    memory
}
