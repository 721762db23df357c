//! The program of the forged handles: a node that serves reads and writes of its memory, and one that forges handles to it and sends
//! them in ordinary calls, to be used by both.
//!
//! 1. The last PE is the victim. It registers equal blocks, every other one a canary that no handle names: sources, targets, and some
//!    whose registration has ended; half of each in memory that neighbours map, half on the heap.
//! 2. The forger (`main`) changes what it was told, at random, by the bytes that a handle is on the wire. It knows what must come of
//!    each: the right bytes, [`Misfit`](chare::Misfit), or a typed error and not a byte moved.
//! 3. After every round the victim compares canaries and sources with what they were, and targets with what may have been written.
//!
//! The program prints `right` and its counts and ends with 0, or panics.

use chare::prelude::*;
use chare::{Program, RegisteredSource, RegisteredTarget, SourceHandle, TargetHandle, try_rget, try_rput};
use chare_lrts::{TransferError, codec};
use clap::Parser;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use std::process::ExitCode;

/// Elements of a block: a page and a bit, so that blocks neither start nor end where pages do.
const LEN: usize = 1_040;

/// Blocks of each kind.
const BLOCKS: usize = 8;

/// Handles in one call.
const BATCH: u64 = 100;

/// Calls between two looks of the victim.
const ROUND: u64 = 50;

const CANARY: u32 = 0xc5c5_c5c5;
const SOURCE: u32 = 0x1111_1111;
/// The bytes of a target at first.
const EMPTY: u32 = 0x2222_2222;
/// The bytes that are written.
const WRITTEN: u32 = 0x3333_3333;
/// The bytes of a read's memory before it.
const UNTOUCHED: u32 = 0x4444_4444;

#[derive(Parser, Clone)]
#[command(no_binary_name = true)]
struct Options {
    /// How many handles are forged
    #[arg(long, default_value_t = 10_000)]
    count: u64,
    /// Which
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// The bytes of a handle on the wire.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Wire {
    node: u32,
    slot: u32,
    generation: u64,
    region_bytes: u64,
    start: u64,
    len: u64,
    notify: Option<()>,
    elements: PhantomData<()>,
}

impl Wire {
    fn of<H: Serialize>(handle: &H) -> Self {
        let mut bytes = Vec::new();
        codec::encode_into(handle, &mut bytes).expect("handles are plain");
        codec::decode(&bytes).expect("this is what a handle consists of")
    }

    fn forge<H: DeserializeOwned>(self) -> H {
        let mut bytes = Vec::new();
        codec::encode_into(&self, &mut bytes).expect("plain numbers");
        codec::decode(&bytes).expect("a handle is an allegation")
    }
}

/// The end that a use of a handle must have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Expected {
    /// Success: these elements were read, or one of these.
    Read(u32, u32),
    /// Success of a write.
    Written,
    /// The local buffer does not fit the handle.
    Misfit,
    /// A typed error, and nothing moved.
    Refused,
}

/// One handle, and what to do with it.
#[derive(Clone, Serialize, Deserialize)]
enum Use {
    Read(SourceHandle<u32>),
    Write(TargetHandle<u32>),
}

#[derive(Clone, Serialize, Deserialize)]
struct Attempt {
    how: Use,
    /// Elements of the buffer on the side that tries.
    local: usize,
    expected: Expected,
}

type Handles = (Vec<SourceHandle<u32>>, Vec<TargetHandle<u32>>, Vec<TargetHandle<u32>>);

/// Successes and refusals.
type Counts = (u64, u64);

#[derive(Default)]
struct Member {
    canaries: Vec<BufferMut<u32>>,
    sources: Vec<RegisteredSource<u32>>,
    targets: Vec<RegisteredTarget<u32>>,
}

/// Every other block lies where neighbours can map it.
fn block(number: usize, value: u32) -> BufferMut<u32> {
    match number % 2 {
        0 => BufferMut::from_fn(LEN, |_| value),
        _ => vec![value; LEN].into(),
    }
}

fn is_all(values: &[u32], allowed: &[u32]) -> bool {
    values.iter().all(|value| allowed.contains(value))
}

#[chare(group)]
impl Member {
    #[entry]
    fn new() -> Self {
        Self::default()
    }

    #[entry]
    fn register(&mut self, to: Callback<Handles>) {
        let mut stale = Vec::new();
        for number in 0..BLOCKS {
            let mut canary = || self.canaries.push(block(number, CANARY));
            canary();
            self.sources.push(RegisteredSource::register(block(number, SOURCE)));
            canary();
            self.targets.push(RegisteredTarget::register(block(number, EMPTY)));
            canary();
            stale.push(RegisteredTarget::register(block(number, CANARY)).handle());
        }
        let sources = self.sources.iter().map(RegisteredSource::handle).collect();
        to.send((sources, self.targets.iter().map(RegisteredTarget::handle).collect(), stale));
    }

    #[entry]
    fn look(&mut self, done: Callback<()>) {
        assert!(self.canaries.iter().all(|canary| is_all(canary, &[CANARY])), "a canary was written");
        assert!(self.sources.iter().all(|source| is_all(source, &[SOURCE])), "a source was written");
        for target in &self.targets {
            let is_right = target.read(|values| is_all(values, &[EMPTY, WRITTEN]));
            assert_eq!(is_right, Some(true), "a target holds what nobody wrote");
        }
        done.send(());
    }

    #[entry]
    async fn attempt(_this: This<Self>, attempts: Vec<Attempt>, done: Callback<Counts>) {
        let under_way = attempts.into_iter().map(Outcome::of).collect::<Vec<_>>();
        let mut counts = (0, 0);
        for outcome in under_way {
            match outcome.judge().await {
                true => counts.0 += 1,
                false => counts.1 += 1,
            }
        }
        done.send(counts);
    }
}

/// A transfer under way.
enum Outcome {
    Read(chare::Future<chare::Transferred<BufferMut<u32>>>, usize, Expected),
    Write(chare::Future<chare::Transferred<Buffer<u32>>>, Expected),
    Misfit,
}

impl Outcome {
    fn of(Attempt { how, local, expected }: Attempt) -> Self {
        let is_misfit = match how {
            Use::Read(from) => {
                let (outcome, done) = chare::future();
                match try_rget(&from, vec![UNTOUCHED; local], done) {
                    Ok(_) => return Self::Read(outcome, from.len(), expected),
                    Err(misfit) => is_all(&misfit.buffer, &[UNTOUCHED]) && misfit.have == local,
                }
            }
            Use::Write(to) => {
                let (outcome, done) = chare::future();
                match try_rput(vec![WRITTEN; local], &to, done) {
                    Ok(_) => return Self::Write(outcome, expected),
                    Err(misfit) => misfit.have == local,
                }
            }
        };
        assert!(is_misfit && expected == Expected::Misfit, "{expected:?} came to a misfit");
        Self::Misfit
    }

    /// Whether the transfer succeeded, as it should or should not.
    async fn judge(self) -> bool {
        match self {
            Self::Misfit => false,
            Self::Read(outcome, len, expected) => match (outcome.await, expected) {
                (Ok(buffer), Expected::Read(one, other)) => {
                    let (read, rest) = buffer.split_at(len);
                    assert!(
                        is_all(read, &[one, other]) && is_all(rest, &[UNTOUCHED]),
                        "bytes from elsewhere"
                    );
                    true
                }
                (Err(failed), Expected::Refused) => {
                    assert!(is_all(&failed.buffer, &[UNTOUCHED]), "a refused read has written");
                    is_refusal(&failed.cause)
                }
                (outcome, expected) => panic!("{expected:?} came to {outcome:?}"),
            },
            Self::Write(outcome, expected) => match (outcome.await, expected) {
                (Ok(_), Expected::Written) => true,
                (Err(failed), Expected::Refused) => is_refusal(&failed.cause),
                (outcome, expected) => panic!("{expected:?} came to {outcome:?}"),
            },
        }
    }
}

/// Never: a refusal is no success. Panics if it says something else.
fn is_refusal(cause: &TransferError) -> bool {
    use TransferError::{OutOfRange, ReadOnly, StaleKey};
    assert!(matches!(cause, StaleKey(_) | OutOfRange { .. } | ReadOnly(_)), "{cause:?}");
    false
}

struct Forger {
    handles: Handles,
    random: StdRng,
}

impl Forger {
    fn attempt(&mut self) -> Attempt {
        let random = &mut self.random;
        let which = random.random_range(0..BLOCKS);
        let (sources, targets, stale) = &self.handles;
        let (told, is_target, is_live) = match random.random_range(0..10) {
            0..4 => (Wire::of(&sources[which]), false, true),
            4..8 => (Wire::of(&targets[which]), true, true),
            _ => (Wire::of(&stale[which]), true, false),
        };
        let mut wire = told;
        match random.random_range(0..16) {
            0 => wire.generation = random.random(),
            1 => wire.generation ^= 1 << random.random_range(0..64),
            2 => wire.slot = random.random(),
            3 => wire.slot ^= 1 << random.random_range(0..32),
            4 => wire.slot = wire.slot.wrapping_add(1),
            5 => wire.node = [0, 2, u32::MAX][random.random_range(0..3)],
            _ => {}
        }
        let full = LEN as u64;
        let edges = [0, 1, full - 1, full, full + 1, 1 << 31, 1 << 32, 1 << 61, 1 << 62, 1 << 63, u64::MAX];
        let edge = |random: &mut StdRng| edges[random.random_range(0..edges.len())];
        // A hint for the reader; the table decides.
        wire.region_bytes = if random.random_bool(0.2) { edge(random) } else { wire.region_bytes };
        wire.start = match random.random_range(0..4) {
            0 => edge(random),
            1 => random.random(),
            _ => random.random_range(0..full),
        };
        wire.len = match random.random_range(0..4) {
            0 => edge(random),
            _ => random.random_range(0..full / 2),
        };
        let local = [0, 1, LEN / 4, LEN / 2, LEN, 2 * LEN][random.random_range(0..6)];
        let is_write = random.random_bool(0.4);
        let moved = if is_write { local as u64 } else { wire.len };
        let is_misfit = if is_write { local as u64 > wire.len } else { wire.len > local as u64 };
        let is_named = (wire.node, wire.slot, wire.generation) == (told.node, told.slot, told.generation);
        let is_within = u128::from(wire.start) + u128::from(moved) <= full.into();
        let expected = match (is_live && is_named && is_within, is_write) {
            _ if is_misfit => Expected::Misfit,
            (true, true) if is_target => Expected::Written,
            (true, false) if is_target => Expected::Read(EMPTY, WRITTEN),
            (true, false) => Expected::Read(SOURCE, SOURCE),
            _ => Expected::Refused,
        };
        let how = if is_write { Use::Write(wire.forge()) } else { Use::Read(wire.forge()) };
        Attempt { how, local, expected }
    }
}

async fn run(options: Options) {
    let members = MemberProxy::create();
    let victim = PeId(chare::pes() - 1);
    let (handles, to_handles) = chare::future();
    members.on(victim).register(to_handles);
    let mut forger = Forger { handles: handles.await, random: StdRng::seed_from_u64(options.seed) };
    let (mut right, mut refused) = (0, 0);
    let calls = options.count.div_ceil(BATCH);
    for round in 0..calls.div_ceil(ROUND) {
        let batches = (0..ROUND.min(calls - round * ROUND)).map(|call| {
            let attempts = (0..BATCH).map(|_| forger.attempt()).collect();
            let (counts, done) = chare::future::<Counts>();
            // By turns on the forger's node and on the victim's own.
            members.on(PeId(call as u32 % chare::pes())).attempt(attempts, done);
            counts
        });
        for counts in batches.collect::<Vec<_>>() {
            let (more_right, more_refused) = counts.await;
            right += more_right;
            refused += more_refused;
        }
        let (looked, done) = chare::future();
        members.on(victim).look(done);
        looked.await;
    }
    println!("right: {right} as told, {refused} refused");
}

fn main() -> ExitCode {
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let options = Options::parse_from(program.arguments());
    program.run(|_arguments| run(options))
}
