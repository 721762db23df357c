//! Hostile peers: one that breaks the protocol of emulated operations achieves its own loss, and nothing else.

use crate::group::{Group, Node, assert_pattern};
use crate::runner::{Check, Outcome, family};
use chare_lrts::claim::ClaimMode;
use chare_lrts::emulated::Emulated;
use chare_lrts::memcpy::{Hub, Memcpy};
use chare_lrts::{
    Channel, Frame, Get, Held, LrtsError, NodeId, Posted, Put, RegionKey, Regions, TransferError,
};
use std::sync::Arc;

/// The kinds of header, as they are numbered on the wire.
#[derive(Clone, Copy)]
enum Kind {
    Get = 0,
    Put = 1,
    Granted = 2,
    GetChunk = 3,
    PutChunk = 4,
    Done = 5,
    Failed = 6,
}

/// A frame of a header with these fields, and data.
fn frame(kind: Kind, fields: &[u64], data: &[u8]) -> Vec<u8> {
    let mut bytes = (kind as u32).to_le_bytes().to_vec();
    fields.iter().for_each(|field| bytes.extend(field.to_le_bytes()));
    bytes.extend(data);
    bytes
}

/// A get or put header: the slot has four bytes on the wire.
fn request(kind: Kind, id: u64, key: &RegionKey, (offset, len): (u64, u64), data: &[u8]) -> Vec<u8> {
    let mut bytes = (kind as u32).to_le_bytes().to_vec();
    bytes.extend(id.to_le_bytes());
    bytes.extend(key.slot.to_le_bytes());
    [key.generation, offset, len].iter().for_each(|field| bytes.extend(field.to_le_bytes()));
    bytes.extend(data);
    bytes
}

/// More than a request takes along.
const LEN: usize = 1_000_000;

/// Node 0 emulates; node 1 is raw and says what the check wants.
struct Scene {
    group: Group,
    target: RegionKey,
}

impl Scene {
    fn open() -> Self {
        let hub = Hub::new(2).expect("two descriptors");
        let regions = |index| Arc::new(Regions::new(NodeId(index)).expect("a board"));
        let (honest, hostile) = (regions(0), regions(1));
        let emulated = Emulated::new(Memcpy::open(&hub, Arc::clone(&honest)), Arc::clone(&honest), 2);
        let raw = Memcpy::open(&hub, Arc::clone(&hostile));
        let nodes =
            vec![Node::with_heap(Arc::new(emulated), honest), Node::with_heap(Arc::new(raw), hostile)];
        let target = nodes[0].target(LEN);
        Self { group: Group::new(nodes), target }
    }

    fn say(&mut self, bytes: Vec<u8>) {
        self.say_on(Channel::Emulated, &bytes);
    }

    fn say_on(&mut self, channel: Channel, bytes: &[u8]) {
        let frame = Frame { channel, head: bytes, body: &[] };
        self.group.nodes[1].lrts.send(NodeId(0), frame).expect("there is room");
        self.group.nodes[0].lrts.progress(&mut self.group.heard[0]);
    }

    /// Posts a get of the hostile node's memory; it gets the number 1.
    fn get(&self, len: usize) {
        let key = RegionKey { node: NodeId(1), slot: 0, generation: 1, len: 0 };
        let into = self.group.nodes[0].memory(LEN, 50);
        let posted = self.group.nodes[0].lrts.get(Get { key, offset: 0, into, len, token: 0 });
        assert!(matches!(posted, Ok(Posted::Pending)));
    }

    /// Posts a put into the hostile node's memory; it gets the number 1.
    fn put(&self, len: usize) {
        let key = RegionKey { node: NodeId(1), slot: 0, generation: 1, len: 0 };
        let from = self.group.nodes[0].memory(len, 50).freeze();
        let posted = self.group.nodes[0].lrts.put(Put { key, offset: 0, from, token: 0 });
        assert!(matches!(posted, Ok(Posted::Pending)));
    }

    /// The breach was noticed, once; whatever was open ended; all claims are back.
    fn assert_caught(mut self, what: &str, written: usize) {
        for _ in 0..3 {
            self.say_on(Channel::Runtime, &[1, 2, 3]);
            self.say(frame(Kind::Done, &[99], &[]));
        }
        let heard = &self.group.heard[0];
        let [LrtsError::Protocol { peer: NodeId(1), .. }] = heard.lost.as_slice() else {
            panic!("{what}: {:?}", heard.lost);
        };
        assert!(heard.frames.is_empty(), "{what}: a lost peer is not heard again");
        for completion in &heard.completions {
            assert_eq!(completion.result, Err(TransferError::PeerLost(NodeId(1))), "{what}");
            if let Some(memory) = &completion.memory {
                assert_pattern(&memory.as_slice()[written..], written, 50);
            }
        }
        assert!(
            self.group.nodes[0].regions.claim(&self.target, 0, 1, ClaimMode::Write).is_ok(),
            "{what}: all claims are back"
        );
        let Held::Target(memory) = self.group.nodes[0].end(&self.target) else { panic!("it was a target") };
        assert_pattern(&memory.as_slice()[written..], written, 0);
    }
}

fn headers_that_do_not_decode() -> Outcome {
    let whole = frame(Kind::Done, &[1], &[]);
    let mut wrong: Vec<Vec<u8>> = (0..whole.len()).map(|len| whole[..len].to_vec()).collect();
    wrong.push([&whole[..], &[0]].concat());
    wrong.push(vec![0xff; 64]);
    wrong.push(7_u32.to_le_bytes().into_iter().chain([0; 60]).collect());
    for bytes in wrong {
        let mut scene = Scene::open();
        let what = format!("{bytes:?}");
        scene.say(bytes);
        scene.assert_caught(&what, 0);
    }
    Outcome::Passed
}

fn answers_to_nothing() -> Outcome {
    for (what, frame) in [
        ("grant", frame(Kind::Granted, &[1], &[])),
        ("data of a get", frame(Kind::GetChunk, &[1, 0], &[1])),
        ("data of a put", frame(Kind::PutChunk, &[1, 0], &[1])),
        ("end", frame(Kind::Done, &[1], &[])),
        ("failure", frame(Kind::Failed, &[1], &[0; 4])),
    ] {
        let mut scene = Scene::open();
        scene.say(frame);
        scene.assert_caught(what, 0);
    }
    Outcome::Passed
}

fn wrong_answers_to_a_get() -> Outcome {
    let data = vec![1; 1_001];
    for (what, len, frames, written) in [
        ("a chunk that starts late", 1_000, vec![frame(Kind::GetChunk, &[1, 1], &data[..9])], 0),
        ("a chunk at the far end", 1_000, vec![frame(Kind::GetChunk, &[1, u64::MAX], &data[..9])], 0),
        ("a chunk too long", 1_000, vec![frame(Kind::GetChunk, &[1, 0], &data)], 0),
        ("an empty chunk", 1_000, vec![frame(Kind::GetChunk, &[1, 0], &[])], 0),
        (
            "a chunk twice",
            1_000,
            vec![frame(Kind::GetChunk, &[1, 0], &data[..9]), frame(Kind::GetChunk, &[1, 0], &data[..9])],
            9,
        ),
        (
            "a chunk past the end",
            1_000,
            vec![frame(Kind::GetChunk, &[1, 0], &data[..999]), frame(Kind::GetChunk, &[1, 999], &data[..2])],
            999,
        ),
        (
            "failure after data",
            1_000,
            vec![frame(Kind::GetChunk, &[1, 0], &data[..9]), frame(Kind::Failed, &[1], &[0; 4])],
            9,
        ),
        ("an end without data", 1_000, vec![frame(Kind::Done, &[1], &[])], 0),
        ("data for no bytes", 0, vec![frame(Kind::GetChunk, &[1, 0], &data[..1])], 0),
        ("a grant", 1_000, vec![frame(Kind::Granted, &[1], &[])], 0),
    ] {
        let mut scene = Scene::open();
        scene.get(len);
        frames.into_iter().for_each(|frame| scene.say(frame));
        let heard = &scene.group.heard[0];
        assert_eq!(heard.completions.len(), 1, "{what}: the get ends");
        // The target region is untouched in all cases; only the get's own memory may have begun.
        let completion = scene.group.heard[0].completions.remove(0);
        assert_eq!(completion.result, Err(TransferError::PeerLost(NodeId(1))), "{what}");
        assert_pattern(&completion.memory.expect("it comes back").as_slice()[written..], written, 50);
        scene.assert_caught(what, 0);
    }
    Outcome::Passed
}

fn wrong_answers_to_a_put() -> Outcome {
    for (what, len, frames) in [
        ("an end before the data", LEN, vec![frame(Kind::Done, &[1], &[])]),
        ("data back", LEN, vec![frame(Kind::GetChunk, &[1, 0], &[1])]),
        ("a grant for no bytes", 0, vec![frame(Kind::Granted, &[1], &[])]),
        ("a grant twice", LEN, vec![frame(Kind::Granted, &[1], &[]), frame(Kind::Granted, &[1], &[])]),
        (
            "failure after the grant",
            LEN,
            vec![frame(Kind::Granted, &[1], &[]), frame(Kind::Failed, &[1], &[0; 4])],
        ),
    ] {
        let mut scene = Scene::open();
        scene.put(len);
        frames.into_iter().for_each(|frame| scene.say(frame));
        assert_eq!(scene.group.heard[0].completions.len(), 1, "{what}: the put ends");
        scene.assert_caught(what, 0);
    }
    Outcome::Passed
}

/// The hostile node's requests about a region, with some data at hand.
type Story = fn(&RegionKey, &[u8]) -> Vec<Vec<u8>>;

fn wrong_requests() -> Outcome {
    let data = vec![1; 1_000];
    let cases: [(&str, Story, usize); 6] = [
        ("less data than it says", |key, data| vec![request(Kind::Put, 1, key, (0, 1_000), &data[..999])], 0),
        ("more data than it says", |key, data| vec![request(Kind::Put, 1, key, (0, 999), data)], 0),
        (
            "one number twice",
            |key, _| {
                let put = || request(Kind::Put, 1, key, (0, LEN as u64), &[]);
                vec![put(), put()]
            },
            0,
        ),
        (
            "data past the end of a put",
            |key, data| {
                vec![request(Kind::Put, 1, key, (0, 10), &[]), frame(Kind::PutChunk, &[1, 0], &data[..11])]
            },
            0,
        ),
        (
            "data of a put twice",
            |key, data| {
                let chunk = || frame(Kind::PutChunk, &[1, 0], &data[..10]);
                vec![request(Kind::Put, 1, key, (0, 1_000), &[]), chunk(), chunk()]
            },
            10,
        ),
        (
            "too many operations at a time",
            |key, _| (0..65).map(|id| request(Kind::Put, id, key, (0, LEN as u64), &[])).collect(),
            0,
        ),
    ];
    for (what, frames, written) in cases {
        let mut scene = Scene::open();
        for frame in frames(&scene.target, &data) {
            scene.say(frame);
        }
        scene.assert_caught(what, written);
    }
    Outcome::Passed
}

/// A request that names the wrong memory is no breach: keys may be stale. It is answered, and writes nothing.
fn requests_for_memory_it_may_not_touch() -> Outcome {
    let mut scene = Scene::open();
    let key = scene.target;
    let forged = RegionKey { generation: key.generation ^ 1, ..key };
    for (id, (key, range)) in [
        (forged, (0, 10)),
        (RegionKey { slot: u32::MAX, ..key }, (0, 10)),
        (key, (LEN as u64, 10)),
        (key, (u64::MAX, 10)),
        (key, (u64::MAX - 4, 10)),
    ]
    .into_iter()
    .enumerate()
    {
        scene.say(request(Kind::Put, id as u64, &key, range, &[9; 10]));
        scene.say(request(Kind::Get, 100 + id as u64, &key, range, &[]));
    }
    scene.say(request(Kind::Put, 200, &key, (1, u64::MAX), &[]));
    assert!(scene.group.heard[0].lost.is_empty());
    let Held::Target(memory) = scene.group.nodes[0].end(&key) else { panic!("it was a target") };
    assert_pattern(memory.as_slice(), 0, 0);
    Outcome::Passed
}

/// All checks of this file.
pub(crate) fn checks() -> Vec<Check> {
    family(
        "hostile",
        &[
            ("headers_that_do_not_decode", headers_that_do_not_decode),
            ("answers_to_nothing", answers_to_nothing),
            ("wrong_answers_to_a_get", wrong_answers_to_a_get),
            ("wrong_answers_to_a_put", wrong_answers_to_a_put),
            ("wrong_requests", wrong_requests),
            ("requests_for_memory_it_may_not_touch", requests_for_memory_it_may_not_touch),
        ],
    )
}
