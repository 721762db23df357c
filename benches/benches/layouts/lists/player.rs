//! Players: two chares that send what a shape selects to and fro by lists of its pieces, which the receiver reads out of the sender's memory.

use super::kernel::{Piece, Reader};
use super::table::{Digest, Entry, Known, entries};
use crate::chain::{Clock, measure};
use crate::shape::Shape;
use crate::subject::{Array, Part, UNTOUCHED, shareable};
use chare::prelude::*;
use chare_benches::Batches;
use chare_layout::{Plan, Raw, copy};
use clap::ValueEnum;
use rustix::process::{PTracer, set_ptracer};
use serde::{Deserialize, Serialize};
use std::process::ExitCode;

/// Pieces of a chunk of a list.
const CHUNK: usize = 4096;

/// Span of a wide read, in bytes: what the second cache holds besides what is written.
const WIDE_BYTES: usize = 256 << 10;

/// When a list travels.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Scheme {
    /// As a whole with each message.
    Naive,
    /// With each message, chunk by chunk.
    Pipelined,
    /// Once.
    Memoised,
}

/// Who copies pieces out of the sender's memory.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Copier {
    /// The receiver, out of a mapping.
    Mapping,
    /// The kernel, a vector for each piece.
    Vectors,
    /// The kernel, everything around the pieces, and then the receiver.
    Sieve,
}

/// Where pieces go.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Target {
    /// To the same places of another buffer.
    Placed,
    /// Side by side.
    Gathered,
}

/// What is played.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Play {
    pub(super) shape: String,
    pub(super) scheme: Scheme,
    pub(super) copier: Copier,
    pub(super) target: Target,
}

/// A message of pieces in a buffer of the sender's.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Message {
    left: u64,
    /// The buffer's address, in its process.
    base: u64,
    digest: Digest,
}

struct Player {
    partner: Option<PlayerElementProxy>,
    play: Play,
    array: Array,
    mine: Vec<Entry>,
    source: Buffer<u8>,
    target: Vec<u8>,
    /// The partner's source, where it can be mapped.
    theirs: Option<Received<u8>>,
    reader: Option<Reader>,
    /// What a wide read reads, and the way from there.
    scratch: Vec<u8>,
    wide: Option<Plan>,
    known: Known,
    /// Whether the partner knows the list.
    is_told: bool,
    /// Pieces of this message that are here.
    landed: usize,
    lists: Vec<BufferMut<Entry>>,
    clock: Clock,
}

#[chare(group)]
impl Player {
    #[entry]
    fn new(play: Play) -> Self {
        let shape = Shape::parse(&play.shape).expect("the side's name was parsed before");
        let array = Array::alike(Part::of(shape).expect("the side made it before"));
        let source = match play.copier {
            Copier::Mapping => shareable(&array.source()),
            Copier::Vectors | Copier::Sieve => array.source().into(),
        };
        let target = match play.target {
            Target::Placed => array.target(),
            Target::Gathered => vec![UNTOUCHED; shape.payload()],
        };
        // Anybody of this user may copy it.
        let _ = set_ptracer(PTracer::Any);
        let (mine, wide) = (entries(&array.from.layout), wide(&play, shape));
        Self {
            partner: None,
            play,
            array,
            mine,
            source: source.freeze(),
            target,
            theirs: None,
            reader: None,
            scratch: vec![UNTOUCHED; WIDE_BYTES],
            wide,
            known: Known::default(),
            is_told: false,
            landed: 0,
            lists: Vec::new(),
            clock: Clock::default(),
        }
    }

    #[entry]
    fn meet(&mut self, players: PlayerProxy) {
        let partner = players.on(PeId((chare::my_pe().0 + 1) % chare::pes()));
        partner.attach(std::process::id(), self.source.clone());
        self.partner = Some(partner);
    }

    #[entry]
    fn attach(&mut self, pid: u32, #[nocopy] source: Received<u8>) {
        self.reader = Some(Reader::new(pid));
        self.theirs = (self.play.copier == Copier::Mapping).then_some(source);
    }

    /// Starts a chain of `calls` that ends here; `done` gets its nanoseconds.
    #[entry]
    fn start(&mut self, calls: u64, done: Callback<u64>) {
        self.clock.start(done);
        self.send(calls);
    }

    #[entry]
    fn listed(&mut self, message: Message, is_last: bool, #[nocopy] list: Received<Entry>) {
        self.copy(message.base, 0, &list);
        if self.play.scheme == Scheme::Memoised {
            self.known.learn(message.digest, message.base, &list);
        }
        drop(list);
        if is_last {
            self.go_on(message.left);
        }
    }

    #[entry]
    fn named(&mut self, message: Message) {
        let known = std::mem::take(&mut self.known);
        self.copy(message.base, message.base, known.of(message.digest));
        self.known = known;
        self.go_on(message.left);
    }

    /// A list may be written again.
    #[entry]
    fn came_back(&mut self, list: Sent<Entry>) {
        self.lists.push(list.into_buffer().try_into_mut().expect("no other handle was kept"));
    }

    /// Looks whether everything is where it belongs.
    #[entry]
    fn check(&mut self, done: Callback<()>) {
        let expected = match self.play.target {
            Target::Placed => self.array.landed(),
            Target::Gathered => {
                let source = self.array.source();
                let piece = |[at, len]: &Entry| &source[*at as usize..(at + len) as usize];
                self.mine.iter().flat_map(piece).copied().collect()
            }
        };
        assert!(self.target == expected, "{:?}", self.play);
        self.contribute(barrier(), done);
    }

    fn go_on(&mut self, left: u64) {
        self.landed = 0;
        match left {
            0 => self.clock.stop(),
            _ => self.send(left),
        }
    }

    fn send(&mut self, left: u64) {
        let base = self.source.as_ptr().addr() as u64;
        let message = Message { left: left - 1, base, digest: self.array.from.layout.digest() };
        let partner = self.partner.clone().expect("they met before");
        if self.is_told {
            return partner.named(message);
        }
        self.is_told = self.play.scheme == Scheme::Memoised;
        let all = self.mine.len();
        let step = if self.play.scheme == Scheme::Pipelined { CHUNK } else { all };
        for from in (0..all).step_by(step) {
            let until = all.min(from + step);
            let list = self.list(base, from..until);
            let back = self.this_chare().came_back_callback();
            partner.listed(message, until == all, SendBuffer::from(list).on_sent(back));
        }
    }

    /// These pieces of the source, by their addresses.
    fn list(&mut self, base: u64, range: std::ops::Range<usize>) -> BufferMut<Entry> {
        let is_fit = |list: &BufferMut<Entry>| list.len() == range.len();
        let free = self.lists.iter().position(is_fit).map(|place| self.lists.swap_remove(place));
        let mut list = free.unwrap_or_else(|| BufferMut::zeroed(range.len()));
        for (entry, [at, len]) in list.iter_mut().zip(&self.mine[range]) {
            *entry = [base + at, *len];
        }
        list
    }

    /// Copies the next pieces of a message out of the partner's buffer at `base`; `add` makes addresses of their places.
    fn copy(&mut self, base: u64, add: u64, list: &[Entry]) {
        let Self { mine, target, reader, scratch, .. } = self;
        let first = self.landed;
        self.landed += list.len();
        let (mut next, placed) = (0, self.play.target == Target::Placed);
        let mut place = |number: usize, len: u64| {
            let to = if placed { mine[first + number][0] as usize } else { next };
            next = to + len as usize;
            to
        };
        match (self.play.copier, &self.theirs, reader, &self.wide) {
            (Copier::Mapping, Some(theirs), ..) => {
                for (number, [at, len]) in list.iter().enumerate() {
                    let (from, to, len) = ((at + add - base) as usize, place(number, *len), *len as usize);
                    target[to..to + len].copy_from_slice(&theirs[from..from + len]);
                }
            }
            (Copier::Vectors, _, Some(reader), _) => {
                let pieces = list.iter().enumerate().map(|(number, [at, len])| Piece {
                    from: at + add,
                    to: place(number, *len),
                    len: *len as usize,
                });
                reader.read(pieces, target).expect("the partner's memory is there");
            }
            (Copier::Sieve, _, Some(reader), Some(plan)) => {
                let spans = (base..).step_by(WIDE_BYTES);
                for (from, target) in spans.zip(target.chunks_exact_mut(plan.bytes() as usize)) {
                    let wide = Piece { from, to: 0, len: WIDE_BYTES };
                    reader.read(std::iter::once(wide), scratch).expect("the partner's memory is there");
                    copy(plan, scratch, target).expect("a wide read has whole pieces");
                }
            }
            _ => unreachable!("they attached to each other's memory before"),
        }
    }
}

/// From what a wide read reads to where its pieces stand side by side: each read of blocks that lie apart by powers of two has the same.
fn wide(play: &Play, shape: Shape) -> Option<Plan> {
    let Shape::Apart { block, every } = shape else { return None };
    let stride = block * every;
    assert!(WIDE_BYTES.is_multiple_of(stride) && play.target == Target::Gathered, "{play:?}");
    let blocks = Raw::bytes_of(block as u64).ok()?.vector((WIDE_BYTES / stride) as u64, 1, every as i64);
    blocks.and_then(|blocks| Plan::pack(&blocks)).ok()
}

/// Measures one way.
pub(super) fn play(play: Play, batches: Batches) -> ExitCode {
    chare::run(move |_| async move {
        let players = PlayerProxy::create(play);
        players.meet(players.clone());
        let first = players.on(PeId(0));
        measure(batches, |calls, done| first.start(calls, done), |done| players.check(done)).await;
    })
}
