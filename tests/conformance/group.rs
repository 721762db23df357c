//! A group of nodes on one backend, and the means to drive them from a check.

use chare_lrts::{
    Channel, Completion, Frame, Get, Held, Lrts, LrtsError, Memory, MemoryMut, NodeId, Posted, Put, Refused,
    RegionKey, Regions, Runs, Sink, TransferError,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time within which everything that a check waits for happens, or never.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A backend and the way in which the suite opens it.
pub(crate) trait Backend {
    /// Names it in reports.
    fn name(&self) -> &'static str;

    /// A job of `nodes` nodes, all in this process.
    ///
    /// # Errors
    /// Why this machine cannot run it.
    fn open(&self, nodes: u32) -> Result<Group, String>;

    /// One node of a job whose other nodes are other processes.
    ///
    /// # Errors
    /// Why this machine or backend cannot do that.
    fn open_one(&self, bootstrap: &mut dyn chare_lrts::bootstrap::Bootstrap) -> Result<Node, String>;

    /// Why its nodes cannot be different processes, if they cannot.
    fn one_process_only(&self) -> Option<&'static str> {
        None
    }

    /// Why a process that is killed may hang those that survive it, if it may: that is the backend's library, not ours.
    fn hang_of_survivors(&self) -> Option<&'static str> {
        None
    }

    /// Why a peer that ends without a goodbye may crash those that survive it, if it may: likewise.
    fn crash_of_survivors(&self) -> Option<&'static str> {
        None
    }

    /// Whether [`Emulated`](chare_lrts::emulated::Emulated) stands around it, and takes the frames of its channel.
    fn is_emulated(&self) -> bool {
        false
    }

    /// Whether a node can get from and put to itself.
    fn serves_its_own_node(&self) -> bool {
        true
    }
}

/// One node of a group.
pub(crate) struct Node {
    pub(crate) lrts: Arc<dyn Lrts>,
    pub(crate) regions: Arc<Regions>,
    pub(crate) allocate: Box<dyn Fn(usize) -> MemoryMut + Send + Sync>,
}

impl Node {
    /// A node whose memory is ordinary memory.
    pub(crate) fn with_heap(lrts: Arc<dyn Lrts>, regions: Arc<Regions>) -> Self {
        Self { lrts, regions, allocate: Box::new(MemoryMut::heap_zeroed) }
    }

    /// Memory filled with a pattern.
    pub(crate) fn memory(&self, len: usize, seed: u8) -> MemoryMut {
        let mut memory = (self.allocate)(len);
        fill(memory.as_mut_slice(), seed);
        memory
    }

    /// A region that peers may read.
    pub(crate) fn source(&self, len: usize, seed: u8) -> RegionKey {
        self.regions.register(Held::Source(self.memory(len, seed).freeze())).expect("the board has room")
    }

    /// A region that peers may write.
    pub(crate) fn target(&self, len: usize) -> RegionKey {
        self.regions.register(Held::Target(self.memory(len, 0))).expect("the board has room")
    }

    /// Ends a region that nobody uses. Where operations claim it from afar, their last word may be on its way.
    pub(crate) fn end(&self, key: &RegionKey) -> Held {
        let mut held = self.regions.deregister(key).expect("it is registered");
        let (mut heard, deadline) = (Heard::default(), Instant::now() + PATIENCE);
        loop {
            if let Some(held) = held {
                assert!(heard.frames.is_empty() && heard.completions.is_empty(), "nothing else is going on");
                return held;
            }
            assert!(Instant::now() < deadline, "nobody uses it");
            self.lrts.progress(&mut heard);
            held = self.regions.reap().into_iter().find(|(reaped, _)| reaped == key).map(|(_, held)| held);
        }
    }
}

/// Bytes that betray a shift, a swap and a hole.
pub(crate) fn fill(bytes: &mut [u8], seed: u8) {
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = pattern(index, seed);
    }
}

/// The byte at `index` of a pattern.
pub(crate) fn pattern(index: usize, seed: u8) -> u8 {
    (index as u32).wrapping_mul(0x9e37_79b1).rotate_left(8) as u8 ^ seed
}

/// Compares bytes with a pattern that starts at `start`.
pub(crate) fn assert_pattern(bytes: &[u8], start: usize, seed: u8) {
    let wrong = bytes.iter().enumerate().find(|(index, byte)| **byte != pattern(start + index, seed));
    assert_eq!(wrong, None, "pattern {seed} from {start} on, {} bytes", bytes.len());
}

/// The events that a node heard.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) frames: Vec<(NodeId, Vec<u8>)>,
    pub(crate) completions: Vec<Completion>,
    pub(crate) closed: Vec<NodeId>,
    pub(crate) lost: Vec<LrtsError>,
}

impl Sink for Heard {
    fn frame(&mut self, source: NodeId, channel: Channel, bytes: &[u8]) {
        assert_eq!(channel, Channel::Runtime, "only the runtime's frames come out");
        self.frames.push((source, bytes.to_vec()));
    }

    fn completion(&mut self, completion: Completion) {
        self.completions.push(completion);
    }

    fn peer_closed(&mut self, peer: NodeId) {
        self.closed.push(peer);
    }

    fn peer_lost(&mut self, error: LrtsError) {
        self.lost.push(error);
    }
}

/// All nodes of a job, driven by one thread.
pub(crate) struct Group {
    pub(crate) nodes: Vec<Node>,
    pub(crate) heard: Vec<Heard>,
}

impl Group {
    pub(crate) fn new(nodes: Vec<Node>) -> Self {
        let heard = nodes.iter().map(|_| Heard::default()).collect();
        Self { nodes, heard }
    }

    /// Lets every node make progress once.
    pub(crate) fn step(&mut self) {
        for (node, heard) in self.nodes.iter().zip(&mut self.heard) {
            node.lrts.progress(heard);
        }
    }

    /// Makes progress until `done` says so.
    pub(crate) fn until(&mut self, what: &str, mut done: impl FnMut(&mut Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !done(self) {
            self.step();
            assert!(Instant::now() < deadline, "{what}: not within {} s", PATIENCE.as_secs());
        }
    }

    /// Sends a frame, making progress while there is no room.
    pub(crate) fn send(&mut self, source: usize, target: usize, bytes: Vec<u8>) {
        self.until("room for a frame", |group| {
            group.nodes[source].lrts.send(NodeId(target as u32), Frame::runtime(&bytes)).is_ok()
        });
    }

    /// Carries a get out to its completion.
    pub(crate) fn get(&mut self, node: usize, get: Get) -> Completion {
        let token = get.token;
        let mut waiting = Some(get);
        self.finish(node, token, |lrts| {
            waiting.take().map(|get| lrts.get(get).map_err(|Refused(get)| waiting = Some(get)))
        })
    }

    /// Carries a put out to its completion.
    pub(crate) fn put(&mut self, node: usize, put: Put) -> Completion {
        let token = put.token;
        let mut waiting = Some(put);
        self.finish(node, token, |lrts| {
            waiting.take().map(|put| lrts.put(put).map_err(|Refused(put)| waiting = Some(put)))
        })
    }

    /// Carries a get of runs out to its completion.
    pub(crate) fn get_runs(&mut self, node: usize, get: Get, runs: &Runs) -> Completion {
        let token = get.token;
        let mut waiting = Some(get);
        self.finish(node, token, |lrts| {
            waiting.take().map(|get| lrts.get_runs(get, runs).map_err(|Refused(get)| waiting = Some(get)))
        })
    }

    /// Carries a put of runs out to its completion.
    pub(crate) fn put_runs(&mut self, node: usize, put: Put, runs: &Runs) -> Completion {
        let token = put.token;
        let mut waiting = Some(put);
        self.finish(node, token, |lrts| {
            waiting.take().map(|put| lrts.put_runs(put, runs).map_err(|Refused(put)| waiting = Some(put)))
        })
    }

    fn finish(
        &mut self,
        node: usize,
        token: u64,
        mut post: impl FnMut(&dyn Lrts) -> Option<Result<Posted, ()>>,
    ) -> Completion {
        let mut over = None;
        self.until("a transfer", |group| {
            if let Some(Ok(Posted::Done(completion))) = post(&*group.nodes[node].lrts) {
                over = Some(completion);
            }
            if let Some(at) = group.heard[node].completions.iter().position(|one| one.token == token) {
                over = Some(group.heard[node].completions.swap_remove(at));
            }
            over.is_some()
        });
        over.expect("just looked at")
    }

    /// Gets into fresh memory of `node`.
    pub(crate) fn get_bytes(
        &mut self,
        node: usize,
        key: RegionKey,
        offset: u64,
        len: usize,
    ) -> Result<MemoryMut, TransferError> {
        let into = (self.nodes[node].allocate)(len);
        let Completion { result, memory, .. } = self.get(node, Get { key, offset, into, len, token: 1 });
        let memory = memory.expect("a get's memory comes back");
        result.map(|count| {
            assert_eq!(count, len);
            memory
        })
    }

    /// Puts memory of `node`.
    pub(crate) fn put_bytes(
        &mut self,
        node: usize,
        key: RegionKey,
        offset: u64,
        from: Memory,
    ) -> Result<usize, TransferError> {
        self.put(node, Put { key, offset, from, token: 2 }).result
    }

    /// Says goodbye on all nodes and waits until all are closed.
    pub(crate) fn close(mut self) {
        self.nodes.iter().for_each(|node| node.lrts.shutdown());
        self.until("goodbyes", |group| group.nodes.iter().all(|node| node.lrts.is_closed()));
        let lost: Vec<&LrtsError> = self.heard.iter().flat_map(|heard| &heard.lost).collect();
        assert!(lost.is_empty(), "a clean end loses nobody: {lost:?}");
    }
}
