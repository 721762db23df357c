//! Transfers of one node: memory lent to other nodes, gets and puts under way, and gets and puts that found no room.

use crate::model::nocopy::{Keep, Leaving, Release};
use crate::node::lending::registration_cache::{Cache, Ended};
use crate::node::lending::tokens::Tokens;
use chare_lrts::reach::{PiecewiseCopy, Reach};
use chare_lrts::spin_lock::SpinMutex;
use chare_lrts::{
    Completion, Get, Held, Lrts, Memory, MemoryId, MemoryMut, NodeId, Posted, Put, Refused, RegionKey,
    Regions, Runs, Token,
};
use parking_lot::Mutex;
use slab::Slab;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Closure that runs when a get or put is over.
pub(crate) type Then = Box<dyn FnOnce(Completion) + Send>;

/// State of a transfer when the call that started it returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// The path was a memory copy, and a short one: the data are there. The callbacks fire all the same.
    Complete,
    /// The transfer is under way. The callbacks fire when it is over.
    Pending,
}

struct Lent {
    /// `None`: the bytes travelled with the message, or belong to another node, which keeps them registered.
    lending: Option<Lending>,
    release: Option<Arc<Release>>,
}

/// A loan that a receiver has given back: the registration that is to end, if any, and the release that follows.
pub(crate) struct TakenBack {
    pub(crate) ended: Option<Ended>,
    /// To be dropped when nothing holds the memory any more.
    pub(crate) release: Option<Arc<Release>>,
}

/// The registration of memory lent to a receiver.
enum Lending {
    /// A block that may be lent to other receivers too.
    Shared(MemoryId),
    Alone(RegionKey),
}

enum Operation {
    Get(Get),
    Put(Put),
    GetRuns(Get, Runs),
    PutRuns(Put, Runs),
}

impl Operation {
    /// The node whose memory it is about.
    fn peer(&self) -> NodeId {
        match self {
            Self::Get(Get { key, .. })
            | Self::Put(Put { key, .. })
            | Self::GetRuns(Get { key, .. }, _)
            | Self::PutRuns(Put { key, .. }, _) => key.node,
        }
    }
}

/// Gets and puts that found no room, by the node that has none for them. A peer that refuses one refuses those behind it: so a look for room costs
/// one attempt at each peer, however many wait.
type Waiting = BTreeMap<NodeId, VecDeque<Operation>>;

/// The transfers of one node.
#[derive(Default)]
pub(crate) struct Transfers {
    lent: Tokens<Lent>,
    cache: SpinMutex<Cache>,
    told_of_copies: AtomicBool,
    running: Mutex<Slab<Then>>,
    refused: Mutex<Waiting>,
    /// How many those are, for the threads that poll.
    refused_count: AtomicUsize,
}

impl Transfers {
    /// Registers memory for one receiver; returns the key and the token with which the receiver fetches and releases it.
    ///
    /// # Errors
    /// The memory and its release, when no more can be registered.
    pub(crate) fn lend(&self, regions: &Regions, leaving: Leaving) -> Result<(RegionKey, Token), Leaving> {
        let Leaving { memory, layout, release, terms, is_copy, lent } = leaving;
        let block = memory.id();
        let acquired = self.cache.lock().acquire(regions, memory, terms.keep);
        match acquired {
            Ok(key) => Ok((key, self.give_out(Some(Lending::Shared(block)), release))),
            Err(memory) => Err(Leaving { memory, layout, release, terms, is_copy, lent }),
        }
    }

    /// Like [`Transfers::lend`], for a message of the runtime's own. It uses a reserve of registrations, which users cannot exhaust.
    pub(crate) fn lend_message(
        &self,
        regions: &Regions,
        memory: Memory,
    ) -> Result<(RegionKey, Token), Memory> {
        match regions.register_reserved(Held::Source(memory)) {
            Ok(key) => Ok((key, self.give_out(Some(Lending::Alone(key)), None))),
            Err(Held::Source(memory)) => Err(memory),
            Err(Held::Target(_)) => unreachable!("a source was given"),
        }
    }

    /// Registers memory ahead of its receivers, until [`Transfers::let_go`]. Returns whether there was room.
    pub(crate) fn hold(&self, regions: &Regions, memory: &Memory) -> bool {
        self.cache.lock().acquire(regions, memory.clone(), Keep::No).is_ok()
    }

    /// Undoes [`Transfers::hold`]. Returns a registration that is to end, if any.
    pub(crate) fn let_go(&self, regions: &Regions, memory: &Memory) -> Option<Ended> {
        self.cache.lock().release(regions, memory.id())
    }

    /// Takes out the registrations of memory and of its pieces that were kept for the next time, which are to end.
    pub(crate) fn forget(&self, memory: &Memory) -> Vec<Ended> {
        self.cache.lock().forget(memory)
    }

    /// Takes out the registrations that were kept for a next time that cannot come, which are to end.
    pub(crate) fn sweep(&self) -> Vec<Ended> {
        self.cache.lock().sweep()
    }

    /// Whether this is the first time that memory could not be registered: the warning is given once.
    pub(crate) fn is_first_copy(&self) -> bool {
        !self.told_of_copies.swap(true, Ordering::Relaxed)
    }

    /// Gives out a token for bytes that need no registration here: they travel with the message, or are memory that another node has lent
    /// to this one. The receiver releases them by the token.
    pub(crate) fn relay(&self, release: Option<Arc<Release>>) -> Token {
        self.give_out(None, release)
    }

    fn give_out(&self, lending: Option<Lending>, release: Option<Arc<Release>>) -> Token {
        self.lent.give_out(Lent { lending, release })
    }

    /// Takes back lent memory that its receiver is done with. Returns the registration that is to end, and the release that follows.
    ///
    /// # Errors
    /// A token that is not out, in words.
    pub(crate) fn take_back(&self, regions: &Regions, token: Token) -> Result<TakenBack, String> {
        let lent = self.lent.take_back(token);
        let Lent { lending, release } =
            lent.ok_or_else(|| format!("release of token {token:#x}, which is not out"))?;
        let ended = match lending {
            Some(Lending::Shared(block)) => self.cache.lock().release(regions, block),
            Some(Lending::Alone(key)) => Some(Ended { key, memory: None }),
            None => None,
        };
        Ok(TakenBack { ended, release })
    }

    /// Fills the first `len` bytes of `into` from a region, then runs `then`.
    pub(crate) fn get(
        &self,
        network: &dyn Lrts,
        (key, offset): (RegionKey, u64),
        (into, len): (MemoryMut, usize),
        then: Then,
    ) -> Status {
        let token = self.running.lock().insert(then) as Token;
        self.start(network, Operation::Get(Get { key, offset, into, len, token }))
    }

    /// Writes `from` into a region, then runs `then`.
    pub(crate) fn put(
        &self,
        network: &dyn Lrts,
        (key, offset): (RegionKey, u64),
        from: Memory,
        then: Then,
    ) -> Status {
        let token = self.running.lock().insert(then) as Token;
        self.start(network, Operation::Put(Put { key, offset, from, token }))
    }

    /// Fills runs of `into` from those of a region, counted from `offset` on, then runs `then`.
    pub(crate) fn get_runs(
        &self,
        network: &dyn Lrts,
        (key, offset): (RegionKey, u64),
        (into, runs): (MemoryMut, Runs),
        then: Then,
    ) -> Status {
        let token = self.running.lock().insert(then) as Token;
        let len = runs.bytes();
        self.start(network, Operation::GetRuns(Get { key, offset, into, len, token }, runs))
    }

    /// Writes runs of `from` to those of a region, counted from `offset` on, then runs `then`.
    pub(crate) fn put_runs(
        &self,
        network: &dyn Lrts,
        (key, offset): (RegionKey, u64),
        (from, runs): (Memory, Runs),
        then: Then,
    ) -> Status {
        let token = self.running.lock().insert(then) as Token;
        self.start(network, Operation::PutRuns(Put { key, offset, from, token }, runs))
    }

    /// Carries out a copy within this process in pieces, then runs `then`, when nobody here holds `pieces` any more.
    pub(crate) fn copy_pieces(&self, network: &Reach, pieces: Arc<dyn PiecewiseCopy>, then: Then) {
        let token = self.running.lock().insert(then) as Token;
        network.copy_pieces(pieces, token);
    }

    /// Posts an operation, behind those that wait for room at the same peer.
    fn start(&self, network: &dyn Lrts, operation: Operation) -> Status {
        if self.has_refused()
            && let Some(waiting) = self.refused.lock().get_mut(&operation.peer())
        {
            self.refused_count.fetch_add(1, Ordering::Relaxed);
            waiting.push_back(operation);
            return Status::Pending;
        }
        self.attempt(network, operation).unwrap_or_else(|operation| {
            chare_lrts::sometimes!("a get or put found no room");
            self.refused_count.fetch_add(1, Ordering::Relaxed);
            self.refused.lock().entry(operation.peer()).or_default().push_back(operation);
            Status::Pending
        })
    }

    /// Posts an operation, and completes it if it is over at once.
    ///
    /// # Errors
    /// The operation, when there is no room for it.
    fn attempt(&self, network: &dyn Lrts, operation: Operation) -> Result<Status, Operation> {
        match post(network, operation)? {
            Posted::Pending => Ok(Status::Pending),
            Posted::Done(completion) => {
                self.complete(completion);
                Ok(Status::Complete)
            }
        }
    }

    /// Runs the closure of an operation that is over. A completion without a closure is a bug of a backend.
    pub(crate) fn complete(&self, completion: Completion) {
        let then = self.running.lock().try_remove(completion.token as usize);
        then.expect("every operation completes once")(completion);
    }

    /// Posts operations again that found no room, for each peer as many as it takes. Returns whether any started.
    pub(crate) fn retry(&self, network: &dyn Lrts) -> bool {
        if !self.has_refused() {
            return false;
        }
        let peers: Vec<NodeId> = self.refused.lock().keys().copied().collect();
        let mut has_started = false;
        for peer in peers {
            while let Some(operation) = self.next_refused_by(peer) {
                if let Err(operation) = self.attempt(network, operation) {
                    self.refused_count.fetch_add(1, Ordering::Relaxed);
                    self.refused.lock().entry(peer).or_default().push_front(operation);
                    break;
                }
                has_started = true;
            }
        }
        has_started
    }

    /// Takes out the operation that waits longest for room at a peer.
    fn next_refused_by(&self, peer: NodeId) -> Option<Operation> {
        let mut refused = self.refused.lock();
        let Entry::Occupied(mut waiting) = refused.entry(peer) else { return None };
        let operation = waiting.get_mut().pop_front();
        if waiting.get().is_empty() {
            waiting.remove();
        }
        operation.inspect(|_| _ = self.refused_count.fetch_sub(1, Ordering::Relaxed))
    }

    /// Drops the loans and operations that will never complete, when the job is over: their closures hold on to the node.
    pub(crate) fn clear(&self) {
        let running = std::mem::take(&mut *self.running.lock());
        drop((self.lent.take_all(), running, self.take_refused()));
    }

    fn take_refused(&self) -> Waiting {
        let mut refused = self.refused.lock();
        self.refused_count.store(0, Ordering::Relaxed);
        std::mem::take(&mut *refused)
    }

    /// Operations that are not over, in words, if there are any.
    #[cfg(feature = "sim")]
    pub(crate) fn unfinished(&self) -> Option<String> {
        let (running, refused) = (self.running.lock().len(), self.refused_count.load(Ordering::Relaxed));
        (running + refused > 0).then(|| format!("{running} gets and puts under way, {refused} without room"))
    }

    /// Whether an operation waits for room.
    pub(crate) fn has_refused(&self) -> bool {
        self.refused_count.load(Ordering::Relaxed) > 0
    }
}

fn post(network: &dyn Lrts, operation: Operation) -> Result<Posted, Operation> {
    match operation {
        Operation::Get(get) => network.get(get).map_err(|Refused(get)| Operation::Get(get)),
        Operation::Put(put) => network.put(put).map_err(|Refused(put)| Operation::Put(put)),
        Operation::GetRuns(get, runs) => {
            network.get_runs(get, &runs).map_err(|Refused(get)| Operation::GetRuns(get, runs))
        }
        Operation::PutRuns(put, runs) => {
            network.put_runs(put, &runs).map_err(|Refused(put)| Operation::PutRuns(put, runs))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Transfers;
    use chare_lrts::{
        Capabilities, Completion, Entering, Frame, Get, Lrts, Memory, MemoryMut, NoRoom, NodeId, Posted, Put,
        Refused, RegionKey, Sink, TransferError,
    };
    use parking_lot::Mutex;
    use std::collections::BTreeMap;
    use std::os::fd::BorrowedFd;
    use std::sync::Arc;

    /// A network that has room for some gets from each peer, which are over at once, and notes who was asked.
    #[derive(Default)]
    struct Narrow {
        room: Mutex<BTreeMap<NodeId, usize>>,
        asked: Mutex<Vec<NodeId>>,
    }

    impl Lrts for Narrow {
        fn name(&self) -> &'static str {
            "narrow"
        }

        fn capabilities(&self) -> Capabilities {
            unreachable!("nobody asks for them")
        }

        fn send(&self, _: NodeId, _: Frame<'_>) -> Result<(), NoRoom> {
            Err(NoRoom)
        }

        fn progress(&self, _: &mut dyn Sink) -> bool {
            false
        }

        fn get(&self, get: Get) -> Result<Posted, Refused<Get>> {
            let peer = get.key.node;
            self.asked.lock().push(peer);
            match self.room.lock().get_mut(&peer) {
                Some(room) if *room > 0 => *room -= 1,
                _ => return Err(Refused(get)),
            }
            let Get { token, len, into, .. } = get;
            Ok(Posted::Done(Completion { token, result: Ok(len), memory: Some(into) }))
        }

        fn put(&self, put: Put) -> Result<Posted, Refused<Put>> {
            Err(Refused(put))
        }

        fn view(
            &self,
            _: &RegionKey,
            _: u64,
            _: usize,
            _: Entering,
        ) -> Result<Option<Memory>, TransferError> {
            Ok(None)
        }

        fn arm(&self) -> bool {
            true
        }

        fn event_fd(&self) -> Option<BorrowedFd<'_>> {
            None
        }

        fn shutdown(&self) {}

        fn is_closed(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_look_for_room_is_one_attempt_at_each_peer_and_gets_end_in_order() {
        let (transfers, network) = (Transfers::default(), Narrow::default());
        let over: Arc<Mutex<Vec<(u32, usize)>>> = Arc::default();
        let peers = [1, 2].map(NodeId);
        for number in 0..100 {
            for peer in peers {
                let (over, key) =
                    (Arc::clone(&over), RegionKey { node: peer, slot: 0, generation: 0, len: 1 });
                let then = Box::new(move |_| over.lock().push((peer.0, number)));
                let into = MemoryMut::heap_zeroed(1);
                transfers.get(&network, (key, 0), (into, 1), then);
            }
        }
        // Whoever comes later does not even ask.
        assert_eq!(std::mem::take(&mut *network.asked.lock()), peers);
        assert!(!transfers.retry(&network) && transfers.has_refused());
        assert_eq!(std::mem::take(&mut *network.asked.lock()), peers);
        network.room.lock().insert(peers[1], 3);
        assert!(transfers.retry(&network));
        assert_eq!(network.asked.lock().len(), 1 + 4);
        assert_eq!(*over.lock(), [(2, 0), (2, 1), (2, 2)]);
        network.room.lock().extend(peers.map(|peer| (peer, 1000)));
        assert!(transfers.retry(&network) && !transfers.has_refused());
        assert_eq!(over.lock().len(), 200);
        for peer in peers {
            let order = over.lock().iter().filter(|one| one.0 == peer.0).map(|one| one.1).collect::<Vec<_>>();
            assert_eq!(order, (0..100).collect::<Vec<_>>());
        }
    }
}
