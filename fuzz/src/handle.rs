//! Handles that a peer forged: nothing is read or written but the memory that they name rightly.
//!
//! An input is a list of operations of [`OPERATION_BYTES`] each: a handle, a change in it, a range of bytes, and an operation on them.

use chare_lrts::emulated::Emulated;
use chare_lrts::memcpy::{Hub, Memcpy};
use chare_lrts::{
    Completion, Get, Held, Lrts, LrtsError, MemoryMut, NodeId, Posted, Put, RegionKey, Regions, Sink,
};
use std::cell::RefCell;
use std::sync::Arc;

const OPERATION_BYTES: usize = 40;

/// Bytes of each region.
const LEN: usize = 1_000;

/// The bytes of a source, of a target, and of memory that receives or sends.
const SOURCE: u8 = 1;
const TARGET: u8 = 2;
const LOCAL: u8 = 3;

/// Node 1 owns the regions; node 0 forges, over the path that copies and over the one made of messages.
struct Scene {
    owners: [Arc<Regions>; 2],
    forgers: [Arc<dyn Lrts>; 2],
    servers: [Arc<dyn Lrts>; 2],
    source: [RegionKey; 2],
    target: [RegionKey; 2],
    stale: [RegionKey; 2],
}

#[derive(Default)]
struct Ends(Vec<Completion>);

impl Sink for Ends {
    fn frame(&mut self, _source: NodeId, _channel: chare_lrts::Channel, _bytes: &[u8]) {
        unreachable!("nobody sends frames");
    }

    fn completion(&mut self, completion: Completion) {
        self.0.push(completion);
    }

    fn peer_closed(&mut self, _peer: NodeId) {}

    fn peer_lost(&mut self, error: LrtsError) {
        panic!("a forged handle is no breach: {error}");
    }
}

fn filled(byte: u8) -> MemoryMut {
    MemoryMut::from_vec(vec![byte; LEN])
}

impl Scene {
    fn open() -> Self {
        let regions = |node| Arc::new(Regions::new(NodeId(node)).expect("a board"));
        let (copying, emulating) = (Hub::new(2).expect("descriptors"), Hub::new(2).expect("descriptors"));
        let owners = [regions(1), regions(1)];
        let plain = |regions: &Arc<Regions>| -> Arc<dyn Lrts> {
            Arc::new(Memcpy::open(&copying, Arc::clone(regions)))
        };
        let emulated = |regions: &Arc<Regions>| -> Arc<dyn Lrts> {
            let memcpy = Memcpy::open(&emulating, Arc::clone(regions));
            Arc::new(Emulated::new(memcpy, Arc::clone(regions), 2))
        };
        let register = |held: fn() -> Held| {
            [0, 1].map(|path| owners[path].register(held()).expect("the board has room"))
        };
        let source = register(|| Held::Source(filled(SOURCE).freeze()));
        let target = register(|| Held::Target(filled(TARGET)));
        let stale = register(|| Held::Target(filled(TARGET)));
        for path in [0, 1] {
            drop(owners[path].deregister(&stale[path]).expect("it is registered"));
        }
        let forgers = [plain(&regions(0)), emulated(&regions(0))];
        let servers = [plain(&owners[0]), emulated(&owners[1])];
        Self { owners, forgers, servers, source, target, stale }
    }

    /// Carries one operation out; returns its end.
    fn finish<T: std::fmt::Debug>(
        &self,
        path: usize,
        posted: Result<Posted, chare_lrts::Refused<T>>,
    ) -> Completion {
        match posted.expect("nobody else claims anything") {
            Posted::Done(completion) => completion,
            Posted::Pending => {
                let mut ends = Ends::default();
                while ends.0.is_empty() {
                    self.servers[path].progress(&mut Ends::default());
                    self.forgers[path].progress(&mut ends);
                }
                ends.0.remove(0)
            }
        }
    }

    fn run(&self, operation: &[u8; OPERATION_BYTES]) {
        let word = |index: usize| {
            let (words, _) = operation.as_chunks::<8>();
            u64::from_le_bytes(words[index])
        };
        let (path, is_put) = (usize::from(operation[0] & 1), operation[0] & 2 != 0);
        let (good, expected) = match operation[1] % 3 {
            0 => (self.source[path], Some(SOURCE)),
            1 => (self.target[path], Some(TARGET)),
            _ => (self.stale[path], None),
        };
        let mut key = good;
        key.slot = key.slot.wrapping_add(word(1) as u32);
        key.generation = key.generation.wrapping_add(word(2));
        let (offset, len) = (word(3), word(4));
        // Others' handles are told apart by slot and generation alone; a forged length changes nothing.
        key.len = key.len.wrapping_add(u64::from(operation[2]));
        let local = usize::try_from(len).unwrap_or(usize::MAX).min(2 * LEN);
        let is_good = expected.is_some()
            && (key.slot, key.generation) == (good.slot, good.generation)
            && offset.checked_add(local as u64).is_some_and(|end| end <= LEN as u64);
        if is_put {
            let from = MemoryMut::from_vec(vec![TARGET; local]).freeze();
            let done = self.finish(path, self.forgers[path].put(Put { key, offset, from, token: 1 }));
            let may = is_good && expected == Some(TARGET);
            assert_eq!(done.result.is_ok(), may, "put {key:?} {offset} {local}: {:?}", done.result);
        } else {
            let into = MemoryMut::from_vec(vec![LOCAL; local]);
            let get = Get { key, offset, into, len: local, token: 1 };
            let done = self.finish(path, self.forgers[path].get(get));
            assert_eq!(done.result.is_ok(), is_good, "get {key:?} {offset} {local}: {:?}", done.result);
            let got = done.memory.expect("a get's memory comes back");
            let byte = if is_good { expected.unwrap_or(LOCAL) } else { LOCAL };
            assert!(got.as_slice().iter().all(|one| *one == byte), "bytes from elsewhere");
        }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        for (owner, keys) in self.owners.iter().zip(self.source.iter().zip(&self.target)) {
            let _ = (owner.deregister(keys.0), owner.deregister(keys.1));
        }
    }
}

thread_local! {
    static SCENE: RefCell<Option<Scene>> = const { RefCell::new(None) };
}

pub(crate) fn run(bytes: &[u8]) {
    SCENE.with_borrow_mut(|scene| {
        let scene = scene.get_or_insert_with(Scene::open);
        bytes.as_chunks().0.iter().take(100).for_each(|operation| scene.run(operation));
    });
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let operation = |what: [u8; 2], offset: u64, len: u64| {
        let mut bytes = [what[0], what[1], 0, 0, 0, 0, 0, 0].to_vec();
        [0, 0, offset, len].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes
    };
    let ways = (0..4).flat_map(|way| (0..3).map(move |region| [way, region]));
    ways.map(|what| [operation(what, 10, 100), operation(what, 0, LEN as u64)].concat()).collect()
}
