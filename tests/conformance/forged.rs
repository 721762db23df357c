//! Forged, stale and out-of-range handles against another process that goes on serving.
//!
//! 1. The guard (node 1) allocates equal blocks one after another; every second one is a canary that nobody was told of, the
//!    others are registered: sources, targets, and some whose registration ended.
//! 2. The forger (node 0) changes what it was told, at random, and gets and puts. It knows which operations are right: these
//!    succeed and bring the right bytes, all others fail with a typed error, and the memory of a failed get is untouched.
//! 3. Every [`ROUND`] operations the guard looks whether canaries and sources are what they were, and targets hold nothing but
//!    what the forger was allowed to write.
//!
//! `CHARE_TEST_FORGED` sets how many operations there are, `CHARE_TEST_SEED` which; `cargo xtask soak` makes a million.

use crate::child::{self, GUARD};
use crate::group::{Backend, Heard, Node, PATIENCE};
use crate::runner::Outcome;
use chare_lrts::bootstrap::Bootstrap;
use chare_lrts::{Completion, Get, Held, MemoryMut, NodeId, Posted, Put, Refused, RegionKey, TransferError};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Operations in the suite, per backend.
const OPERATIONS: u64 = 3_000;

/// Operations between two looks of the guard.
const ROUND: u64 = 10_000;

/// Operations under way at a time.
const IN_FLIGHT: usize = 32;

/// Bytes of a block: a page and a bit, so that blocks neither start nor end where pages do.
const LEN: usize = 4_096 + 64;

/// Registered blocks of each kind.
const BLOCKS: usize = 8;

const CANARY: u8 = 0xc5;
const SOURCE: u8 = 0x11;
/// The bytes of a target at first.
const EMPTY: u8 = 0x22;
/// The bytes that the forger writes.
const WRITTEN: u8 = 0x33;
/// The bytes of a get's memory before it.
const UNTOUCHED: u8 = 0x44;

const INTACT: &[u8] = b"intact";
const LAST: &[u8] = b"last";

fn filled(node: &Node, byte: u8, len: usize) -> MemoryMut {
    let mut memory = (node.allocate)(len);
    memory.as_mut_slice().fill(byte);
    memory
}

/// The regions that the guard has registered, as the forger knows them.
struct Regions {
    sources: Vec<RegionKey>,
    targets: Vec<RegionKey>,
    stale: Vec<RegionKey>,
}

impl Regions {
    fn encode(&self) -> Vec<u8> {
        let keys = self.sources.iter().chain(&self.targets).chain(&self.stale);
        keys.flat_map(|key| [u64::from(key.slot), key.generation]).flat_map(u64::to_le_bytes).collect()
    }

    fn decode(bytes: &[u8]) -> Self {
        let (words, _) = bytes.as_chunks::<8>();
        let keys = words.as_chunks::<2>().0.iter().map(|[slot, generation]| RegionKey {
            node: NodeId(1),
            slot: u64::from_le_bytes(*slot) as u32,
            generation: u64::from_le_bytes(*generation),
            len: LEN as u64,
        });
        let keys: Vec<RegionKey> = keys.collect();
        let kind = |index: usize| keys[index * BLOCKS..(index + 1) * BLOCKS].to_vec();
        Self { sources: kind(0), targets: kind(1), stale: kind(2) }
    }
}

/// The guard's memory.
struct Guarded<'a> {
    node: &'a Node,
    regions: Regions,
    canaries: Vec<MemoryMut>,
}

impl<'a> Guarded<'a> {
    fn new(node: &'a Node) -> Self {
        let mut canaries = Vec::new();
        let mut register = |held: &dyn Fn() -> Held| -> Vec<RegionKey> {
            let one = |_| {
                canaries.push(filled(node, CANARY, LEN));
                node.regions.register(held()).expect("the board has room")
            };
            (0..BLOCKS).map(one).collect()
        };
        let sources = register(&|| Held::Source(filled(node, SOURCE, LEN).freeze()));
        let targets = register(&|| Held::Target(filled(node, EMPTY, LEN)));
        let stale = register(&|| Held::Target(filled(node, CANARY, LEN)));
        canaries.extend(stale.iter().filter_map(|key| match node.end(key) {
            Held::Target(memory) => Some(memory),
            Held::Source(_) => None,
        }));
        Self { node, regions: Regions { sources, targets, stale }, canaries }
    }

    /// Checks the canaries; the error names one that somebody wrote.
    fn look_at_canaries(&self) -> Result<(), String> {
        let damaged = self.canaries.iter().position(|one| one.as_slice().iter().any(|byte| *byte != CANARY));
        damaged.map_or(Ok(()), |canary| Err(format!("canary {canary} was written")))
    }

    /// Checks the regions; the error names one that holds bytes which nobody may write there.
    fn look_at_regions(&self) -> Result<(), String> {
        let Regions { sources, targets, .. } = &self.regions;
        sources.iter().chain(targets).try_for_each(|key| {
            let held = self.node.end(key);
            let (bytes, allowed) = match &held {
                Held::Source(memory) => (memory.as_slice(), [SOURCE; 2]),
                Held::Target(memory) => (memory.as_slice(), [EMPTY, WRITTEN]),
            };
            match bytes.iter().find(|byte| !allowed.contains(byte)) {
                Some(byte) => Err(format!("{key:?} holds {byte:#x}")),
                None => Ok(()),
            }
        })
    }
}

/// Plays the guard until the forger is done.
pub(crate) fn guard(bootstrap: &mut dyn Bootstrap, node: &Node) -> ExitCode {
    let guarded = Guarded::new(node);
    // The check may be skipped for the forger's backend; nobody listens then.
    let Ok(_) = bootstrap.all_gather(guarded.regions.encode()) else { return ExitCode::FAILURE };
    let is_over = AtomicBool::new(false);
    let mut told = |verdict: Result<(), String>| {
        let verdict = verdict.map_or_else(String::into_bytes, |()| INTACT.to_vec());
        bootstrap.all_gather(verdict).expect("the forger listens").swap_remove(0)
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut heard = Heard::default();
            while !is_over.load(Ordering::Relaxed) {
                node.lrts.progress(&mut heard);
            }
            assert!(heard.lost.is_empty() && heard.frames.is_empty(), "forged handles are no breach");
        });
        while told(guarded.look_at_canaries()) != LAST {}
        is_over.store(true, Ordering::Relaxed);
    });
    told(guarded.look_at_canaries().and_then(|()| guarded.look_at_regions()));
    ExitCode::SUCCESS
}

/// The end that an operation must have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expected {
    /// These bytes, all of them.
    Bytes(u8),
    /// Success of a put.
    Written,
    /// The forger's bytes, or those that were there before.
    OfTarget,
    /// A typed error, and nothing moved.
    Refused,
}

/// The forger's side.
struct Forger<'a> {
    node: &'a Node,
    regions: Regions,
    random: StdRng,
    heard: Heard,
    under_way: HashMap<u64, Expected>,
    right: u64,
    refused: u64,
}

impl Forger<'_> {
    /// One operation that is right or, more often, wrong in one or more ways.
    fn post(&mut self, token: u64) {
        let random = &mut self.random;
        let which = random.random_range(0..BLOCKS);
        let (kind, mut key) = match random.random_range(0..10) {
            0..4 => (0, self.regions.sources[which]),
            4..8 => (1, self.regions.targets[which]),
            _ => (2, self.regions.stale[which]),
        };
        let told = key;
        match random.random_range(0..8) {
            0 => key.generation = random.random(),
            1 => key.generation ^= 1 << random.random_range(0..64),
            2 => key.slot = random.random(),
            3 => key.slot ^= 1 << random.random_range(0..32),
            4 => key.slot = key.slot.wrapping_add(1),
            _ => {}
        }
        // A hint for the reader; the table decides.
        key.len =
            *[LEN as u64, 0, u64::MAX, random.random()].get(random.random_range(0..8)).unwrap_or(&key.len);
        let edges = [0, 1, LEN as u64 - 1, LEN as u64, LEN as u64 + 1, 1 << 31, 1 << 32, 1 << 63, u64::MAX];
        let offset = match random.random_range(0..4) {
            0 => edges[random.random_range(0..edges.len())],
            1 => random.random(),
            _ => random.random_range(0..LEN as u64),
        };
        let len = match random.random_range(0..4) {
            0 => [0, 1, LEN - 1, LEN, LEN + 1, 2 * LEN, 100_000][random.random_range(0..7)],
            _ => random.random_range(1..=LEN / 2),
        };
        let is_right = kind < 2
            && (key.slot, key.generation) == (told.slot, told.generation)
            && offset.checked_add(len as u64).is_some_and(|end| end <= LEN as u64);
        let is_put = random.random_bool(0.4);
        let expected = match (is_right, is_put, kind) {
            (true, true, 1) => Expected::Written,
            (true, false, 0) => Expected::Bytes(SOURCE),
            (true, false, _) => Expected::OfTarget,
            _ => Expected::Refused,
        };
        self.under_way.insert(token, expected);
        if is_put {
            let put = Put { key, offset, from: filled(self.node, WRITTEN, len).freeze(), token };
            self.insist(put, |node, put| node.lrts.put(put));
        } else {
            let get = Get { key, offset, into: filled(self.node, UNTOUCHED, len), len, token };
            self.insist(get, |node, get| node.lrts.get(get));
        }
    }

    fn insist<T>(&mut self, operation: T, post: impl Fn(&Node, T) -> Result<Posted, Refused<T>>) {
        let deadline = Instant::now() + PATIENCE;
        let mut waiting = Some(operation);
        while let Some(operation) = waiting.take() {
            match post(self.node, operation) {
                Ok(Posted::Done(completion)) => self.judge(completion),
                Ok(Posted::Pending) => {}
                Err(Refused(operation)) => {
                    waiting = Some(operation);
                    self.settle();
                    assert!(Instant::now() < deadline, "no room for an operation");
                }
            }
        }
    }

    /// Takes in what has ended.
    fn settle(&mut self) {
        self.node.lrts.progress(&mut self.heard);
        assert!(self.heard.lost.is_empty(), "the guard goes on: {:?}", self.heard.lost);
        for completion in std::mem::take(&mut self.heard.completions) {
            self.judge(completion);
        }
    }

    fn judge(&mut self, Completion { token, result, memory }: Completion) {
        let expected = self.under_way.remove(&token).expect("every operation ends once");
        let holds = |allowed: &[u8]| {
            let memory = memory.as_ref().expect("a get's memory comes back");
            memory.as_slice().iter().all(|byte| allowed.contains(byte))
        };
        match (expected, &result) {
            (Expected::Bytes(byte), Ok(_)) => assert!(holds(&[byte]), "bytes from elsewhere"),
            (Expected::OfTarget, Ok(_)) => assert!(holds(&[EMPTY, WRITTEN]), "bytes from elsewhere"),
            (Expected::Written, Ok(_)) => {}
            (
                Expected::Refused,
                Err(
                    TransferError::StaleKey(NodeId(1))
                    | TransferError::OutOfRange { node: NodeId(1), .. }
                    | TransferError::ReadOnly(NodeId(1)),
                ),
            ) => {
                assert!(memory.is_none() || holds(&[UNTOUCHED]), "a refused get has written");
                self.refused += 1;
                return;
            }
            (expected, result) => panic!("{expected:?} came to {result:?}"),
        }
        self.right += 1;
    }

    fn finish(&mut self, at_most: usize) {
        let deadline = Instant::now() + PATIENCE;
        while self.under_way.len() > at_most {
            self.settle();
            assert!(Instant::now() < deadline, "{} operations do not end", self.under_way.len());
        }
    }
}

pub(crate) fn forged_handles_reach_nothing(backend: &dyn Backend) -> Outcome {
    let (mut process, mut pair) = match child::launch(backend, GUARD) {
        Ok(launched) => launched,
        Err(why) => return Outcome::Skipped(why),
    };
    let node = match backend.open_one(&mut pair) {
        Ok(node) => node,
        Err(why) => return Outcome::Skipped(why),
    };
    let capabilities = node.lrts.capabilities();
    if !(capabilities.get && capabilities.put) {
        return Outcome::Skipped("it has no get and put of its own".to_owned());
    }
    let asked = |variable| std::env::var(variable).ok().and_then(|number| number.parse().ok());
    let (count, seed) =
        (asked("CHARE_TEST_FORGED").unwrap_or(OPERATIONS), asked("CHARE_TEST_SEED").unwrap_or(0));
    let told = pair.all_gather(Vec::new()).expect("the guard tells its regions");
    let mut forger = Forger {
        node: &node,
        regions: Regions::decode(&told[1]),
        random: StdRng::seed_from_u64(seed),
        heard: Heard::default(),
        under_way: HashMap::new(),
        right: 0,
        refused: 0,
    };
    let mut ask = |word: &[u8]| {
        let answers = pair.all_gather(word.to_vec()).expect("the guard is there");
        assert_eq!(String::from_utf8_lossy(&answers[1]), String::from_utf8_lossy(INTACT));
    };
    for token in 0..count {
        forger.post(token);
        forger.finish(IN_FLIGHT);
        if token % ROUND == ROUND - 1 {
            forger.finish(0);
            ask(b"go on");
        }
    }
    forger.finish(0);
    ask(LAST);
    ask(b"and the regions");
    println!("{}: {} right, {} refused", backend.name(), forger.right, forger.refused);
    assert!(process.0.wait().expect("it is our child").success(), "the guard ended well");
    Outcome::Passed
}
