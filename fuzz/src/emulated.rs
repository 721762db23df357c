//! Frames of emulated get and put: a peer that breaks the protocol is lost, and reaches nothing beside registered memory.
//!
//! An input is a list of frames, each after its length in two bytes. [`GENERATION`] in it stands for the region's real one, which
//! is random: so what fuzzing found yesterday reaches the region today.

use chare_lrts::claim::ClaimMode;
use chare_lrts::emulated::Emulated;
use chare_lrts::memcpy::{Hub, Memcpy};
use chare_lrts::{
    Channel, Completion, Frame, Get, Held, Lrts, LrtsError, MemoryMut, NodeId, Posted, Put, RegionKey,
    Regions, Sink,
};
use std::rc::Rc;
use std::sync::Arc;

const GENERATION: [u8; 8] = *b"GENERATE";

/// Longer than a frame of the carrier, so that requests are followed by chunks.
const LEN: usize = 200_000;

/// The bytes of memory that nobody may write.
const CANARY: u8 = 0xc5;

/// The honest node's memory, which outlives its connections.
struct Owned {
    regions: Arc<Regions>,
    source: RegionKey,
    target: RegionKey,
}

struct Scene {
    owned: Rc<Owned>,
    honest: Emulated<Memcpy>,
    hostile: Memcpy,
}

thread_local! {
    static OWNED: Rc<Owned> = Rc::new(Owned::new());
    static OTHERS: Arc<Regions> = Arc::new(Regions::new(NodeId(1)).expect("a board"));
}

impl Owned {
    fn new() -> Self {
        let regions = Arc::new(Regions::new(NodeId(0)).expect("a board"));
        let source = regions.register(Held::Source(MemoryMut::from_vec(vec![CANARY; LEN]).freeze()));
        let target = regions.register(Held::Target(MemoryMut::heap_zeroed(LEN)));
        let (source, target) = (source.expect("there is room"), target.expect("there is room"));
        Self { regions, source, target }
    }

    /// Nobody has written the source, and nobody holds anything any more.
    fn assert_untouched(&self) {
        let claim = self.regions.claim(&self.source, 0, LEN as u64, ClaimMode::Read);
        let claim = claim.unwrap_or_else(|error| panic!("the source is held by nobody: {error:?}"));
        drop(claim);
        let claim = self.regions.claim(&self.target, 0, LEN as u64, ClaimMode::Write);
        assert!(claim.is_ok(), "the target is held by nobody");
    }
}

#[derive(Default)]
struct Heard {
    frames: Vec<Vec<u8>>,
    completions: Vec<Completion>,
    lost: usize,
}

impl Sink for Heard {
    fn frame(&mut self, _source: NodeId, _channel: Channel, bytes: &[u8]) {
        self.frames.push(bytes.to_vec());
    }

    fn completion(&mut self, completion: Completion) {
        self.completions.push(completion);
    }

    fn peer_closed(&mut self, _peer: NodeId) {}

    fn peer_lost(&mut self, _error: LrtsError) {
        self.lost += 1;
    }
}

impl Scene {
    fn open() -> Self {
        let hub = Hub::new(2).expect("two descriptors");
        let owned = OWNED.with(Rc::clone);
        let own = &owned.regions;
        let honest = Emulated::new(Memcpy::open(&hub, Arc::clone(own)), Arc::clone(own), 2);
        let hostile = Memcpy::open(&hub, OTHERS.with(Arc::clone));
        Self { owned, honest, hostile }
    }

    /// Posts a get and a put of the hostile node's memory, so that there is something to answer.
    fn ask(&self) {
        let key = RegionKey { node: NodeId(1), ..self.owned.target };
        let get = Get { key, offset: 0, into: MemoryMut::heap_zeroed(LEN), len: LEN / 2, token: 0 };
        assert!(matches!(self.honest.get(get), Ok(Posted::Pending)));
        let from = MemoryMut::from_vec(vec![1; LEN / 2]).freeze();
        assert!(matches!(self.honest.put(Put { key, offset: 0, from, token: 1 }), Ok(Posted::Pending)));
    }

    fn say(&self, bytes: &[u8], heard: &mut Heard) {
        // One that is refused for want of room changes nothing.
        let _ = self.hostile.send(NodeId(0), Frame { channel: Channel::Emulated, head: bytes, body: &[] });
        self.honest.progress(heard);
    }

    /// The frames that the honest node has sent since.
    fn answers(&self) -> Vec<Vec<u8>> {
        let mut heard = Heard::default();
        while self.hostile.progress(&mut heard) {}
        heard.frames
    }
}

/// `bytes` with every `from` replaced by `to`.
fn replace(bytes: &[u8], from: [u8; 8], to: [u8; 8]) -> Vec<u8> {
    let mut replaced = bytes.to_vec();
    for start in 0..bytes.len().saturating_sub(7) {
        if bytes[start..start + 8] == from {
            replaced[start..start + 8].copy_from_slice(&to);
        }
    }
    replaced
}

pub(crate) fn run(bytes: &[u8]) {
    let scene = Scene::open();
    scene.ask();
    let mut heard = Heard::default();
    let bytes = replace(bytes, GENERATION, scene.owned.target.generation.to_le_bytes());
    let mut rest = bytes.as_slice();
    while let Some((len, after)) = rest.split_first_chunk::<2>() {
        let len = usize::from(u16::from_le_bytes(*len)).min(after.len());
        scene.say(&after[..len], &mut heard);
        rest = &after[len..];
    }
    assert!(heard.frames.is_empty(), "nothing reaches the runtime");
    assert!(heard.lost <= 1, "a peer is lost once");
    assert!(heard.completions.len() <= 2, "two operations end twice");
    let owned = Rc::clone(&scene.owned);
    drop(scene);
    owned.assert_untouched();
}

fn joined(frames: &[Vec<u8>]) -> Vec<u8> {
    frames.iter().flat_map(|frame| [&(frame.len() as u16).to_le_bytes()[..], frame].concat()).collect()
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let scene = Scene::open();
    // Its requests of others are those that others may send to it.
    scene.ask();
    let key = RegionKey { node: NodeId(1), ..scene.owned.target };
    let short = MemoryMut::from_vec(vec![1; 50]).freeze();
    assert!(matches!(scene.honest.put(Put { key, offset: 7, from: short, token: 2 }), Ok(Posted::Pending)));
    let requests = scene.answers();
    let mut heard = Heard::default();
    requests.iter().for_each(|request| scene.say(request, &mut heard));
    // And its answers are those that others may give; chunks are cut to fit an input.
    let answers = scene.answers().into_iter().map(|mut answer| {
        answer.truncate(100);
        answer
    });
    let (answers, whole): (Vec<_>, Vec<_>) = (answers.collect(), requests);
    let named = |bytes: Vec<u8>| replace(&bytes, scene.owned.target.generation.to_le_bytes(), GENERATION);
    let mut seeds: Vec<Vec<u8>> = whole.iter().map(|request| joined(std::slice::from_ref(request))).collect();
    seeds.extend([joined(&whole), joined(&answers), joined(&[whole, answers].concat())]);
    seeds.into_iter().map(named).collect()
}
