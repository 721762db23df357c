//! Messages that go around and come back as they were.

use chare::ArrayOptions;
use chare::prelude::*;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A message that would show if it were damaged on its way.
#[derive(Clone, Serialize, Deserialize)]
struct Payload {
    hops: u64,
    numbers: Vec<u64>,
}

impl Payload {
    fn new() -> Self {
        Self { hops: 0, numbers: (0..100).collect() }
    }

    /// Checks the message, and changes it for its next hop.
    fn hop(&mut self) {
        let damaged = self.numbers.iter().zip(0..).find(|(number, at)| **number != at + self.hops);
        assert_eq!(damaged, None, "after {} hops", self.hops);
        self.hops += 1;
        self.numbers.iter_mut().for_each(|number| *number += 1);
    }
}

const ELEMENTS: u64 = 50;
const ARRAY_ROUNDS: u64 = 10;

struct Element;

#[chare(array)]
impl Element {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn pass(&mut self, mut payload: Payload, done: Callback<u64>) {
        if payload.hops == ELEMENTS * ARRAY_ROUNDS {
            assert_eq!(self.this_index(), 0);
            return done.send(payload.hops);
        }
        payload.hop();
        self.this_collection().at((self.this_index() + 1) % ELEMENTS).pass(payload, done);
    }
}

pub(crate) async fn array() {
    let ring = ElementProxy::create(ArrayOptions::new(ELEMENTS));
    let (hops, done) = chare::future();
    ring.at(0).pass(Payload::new(), done);
    assert_eq!(hops.await, ELEMENTS * ARRAY_ROUNDS);
    ring.destroy();
}

const ROUNDS: u32 = 100;
const LANE_ROUNDS: u32 = 50;

/// Values that write themselves in a form of their own.
#[derive(Clone, PartialEq, Debug)]
struct Packed(Option<Box<[i32]>>);

impl Packed {
    fn new() -> Self {
        Self(Some((0..33).map(|number| number * number).collect()))
    }
}

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text: Vec<String> = self.0.iter().flatten().map(ToString::to_string).collect();
        text.join(" ").serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let numbers: Result<_, _> = text.split_whitespace().map(str::parse).collect();
        numbers.map(|numbers| Self(Some(numbers))).map_err(D::Error::custom)
    }
}

struct Member;

impl Member {
    fn next(&self) -> MemberElementProxy {
        self.this_collection().on(PeId((chare::my_pe().0 + 1) % chare::pes()))
    }
}

#[chare(group)]
impl Member {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn pass(&mut self, hops_left: u32, done: Callback<()>) {
        match hops_left {
            0 => done.send(()),
            _ => self.next().pass(hops_left - 1, done),
        }
    }

    #[entry(expedited)]
    fn hurry(&mut self, hops_left: u32, done: Callback<()>) {
        match hops_left {
            0 => done.send(()),
            _ => self.next().hurry(hops_left - 1, done),
        }
    }

    #[entry]
    fn carry(&mut self, packed: Packed, hops_left: u32, done: Callback<()>) {
        assert_eq!(packed, Packed::new());
        match hops_left {
            0 => done.send(()),
            _ => self.next().carry(packed, hops_left - 1, done),
        }
    }
}

pub(crate) async fn group() {
    let (around, done) = chare::future();
    MemberProxy::create().on(PeId(0)).pass(ROUNDS * chare::pes(), done);
    around.await;
}

pub(crate) async fn packed() {
    let (around, done) = chare::future();
    MemberProxy::create().on(PeId(0)).carry(Packed::new(), chare::pes(), done);
    around.await;
}

struct Node;

impl Node {
    fn next(&self) -> NodeElementProxy {
        self.this_collection().on(NodeId((chare::my_node().0 + 1) % chare::nodes()))
    }
}

#[chare(nodegroup)]
impl Node {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn pass(&mut self, hops_left: u32, done: Callback<()>) {
        match hops_left {
            0 => done.send(()),
            _ => self.next().pass(hops_left - 1, done),
        }
    }

    #[entry(immediate)]
    fn rush(&mut self, hops_left: u32, done: Callback<()>) {
        match hops_left {
            0 => done.send(()),
            _ => self.next().rush(hops_left - 1, done),
        }
    }
}

pub(crate) async fn nodegroup() {
    let (around, done) = chare::future();
    NodeProxy::create().on(NodeId(0)).pass(ROUNDS * chare::nodes(), done);
    around.await;
}

pub(crate) async fn immediate() {
    let (rings, group, nodegroup): (Vec<_>, _, _) =
        ((0..3).map(|_| chare::future()).collect(), MemberProxy::create(), NodeProxy::create());
    let (around, done): (Vec<_>, Vec<_>) = rings.into_iter().unzip();
    nodegroup.on(NodeId(0)).rush(ROUNDS * chare::nodes(), done[0]);
    nodegroup.on(NodeId(chare::nodes() - 1)).rush(LANE_ROUNDS * chare::nodes(), done[1]);
    group.on(PeId(0)).hurry(LANE_ROUNDS * chare::pes(), done[2]);
    chare::wait_all(around).await;
}
