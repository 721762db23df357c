#![expect(unsafe_code, reason = "implements an endpoint, and fills buffers as a network does")]

use super::*;
use crate::error::TransferError;
use crate::fabric::wire::Kind;
use crate::frame::Channel;
use crate::leased::endpoint::{Access, Refusal, Registration, Transfer};
use crate::leased::wire::{BUFFER_BYTES, Header};
use crate::lrts::Get;
use crate::memory::{MemoryMut, Place};
use crate::region::{RegionKey, Regions};
use crate::runs::{Run, Runs};
use crate::tcp::keepalive::Keepalives;
use parking_lot::Mutex;
use rustix::fd::BorrowedFd;
use std::collections::BTreeMap;

/// The number that messages to this node carry.
const DOOR: u64 = 7;

/// A network of which a test says what happens.
struct Script {
    events: Arc<Mutex<Vec<Event>>>,
    incoming: Arc<Pool>,
    is_shut: bool,
}

impl Endpoint for Script {
    fn kind(&self) -> String {
        "script".to_owned()
    }

    fn label(&self) -> String {
        self.kind()
    }

    fn address(&self) -> Result<Vec<u8>, LrtsError> {
        Ok(Vec::new())
    }

    fn introduce(&mut self, _: NodeId, _: &[u8], _: u64) -> Result<(), LrtsError> {
        Ok(())
    }

    fn connects_on_demand(&self) -> bool {
        true
    }

    fn delivers(&self) -> bool {
        false
    }

    fn incoming(&self) -> &Arc<Pool> {
        &self.incoming
    }

    fn post_receive(&mut self, _: Arrival) -> Result<(), Arrival> {
        Ok(())
    }

    fn send(&mut self, _: NodeId, _: &[&[u8]], _: bool) -> Result<Option<usize>, Refusal> {
        Ok(None)
    }

    unsafe fn transfer(&mut self, _: &Transfer, _: Option<&Registration>, _: usize) -> Result<(), Refusal> {
        Err(Refusal::Full)
    }

    fn transfer_bytes_max(&self) -> usize {
        usize::MAX
    }

    fn registers_local(&self) -> bool {
        false
    }

    fn registrations_max(&self) -> usize {
        0
    }

    fn register(&mut self, _: &Place, _: Access) -> Result<Registration, String> {
        Err("no memory is registered here".to_owned())
    }

    fn deregister(&mut self, _: &Registration) {}

    fn poll(&mut self, events: &mut Vec<Event>, _: bool) {
        events.append(&mut self.events.lock());
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn may_sleep(&mut self) -> bool {
        true
    }

    fn shut(&mut self) {
        self.is_shut = true;
    }

    fn is_shut(&self) -> bool {
        self.is_shut
    }
}

const ONE: NodeId = NodeId(1);
const TWO: NodeId = NodeId(2);

/// An exchange of node 0 with two peers, and what a test tells it of.
struct Scene {
    exchange: LeasedExchange,
    events: Arc<Mutex<Vec<Event>>>,
    incoming: Arc<Pool>,
    received: usize,
}

impl Scene {
    fn new() -> Self {
        let events = Arc::<Mutex<Vec<Event>>>::default();
        let incoming = Arc::new(Pool::new(8, BUFFER_BYTES));
        let regions = Arc::new(Regions::new(NodeId(0)).expect("memory"));
        let endpoint =
            Box::new(Script { events: Arc::clone(&events), incoming: Arc::clone(&incoming), is_shut: false });
        let peer = || Some((0, Server::new(Arc::clone(&regions))));
        let exchange = LeasedExchange::new(Parts {
            node: NodeId(0),
            backend: "script",
            door: DOOR,
            endpoint,
            registrations: Registrations::new(0),
            signs: Box::new(Keepalives::watch_sockets("script", BTreeMap::new()).expect("a descriptor")),
            peers: vec![None, peer(), peer()],
        });
        Self { exchange, events, incoming, received: 0 }
    }

    fn happens(&mut self, event: Event) -> &mut Self {
        self.events.lock().push(event);
        self.exchange.advance(false, false);
        self
    }

    fn receives(&mut self, source: NodeId, sequence: u32) -> &mut Self {
        let header = Header { door: DOOR, sequence, source, kind: Kind::Frame(Channel::Runtime) };
        let slot = self.received;
        self.received += 1;
        // SAFETY: each buffer is filled once, and never posted.
        let arrival = unsafe { Arrival::new(slot, self.incoming.write(slot, &[&header.encode()])) };
        self.happens(Event::Received(arrival))
    }

    fn misses(&mut self) -> &mut Self {
        self.happens(Event::Missing("the connection was reset".to_owned()))
    }

    /// As if so long had passed since a message was missed as is waited for the end of its sender.
    fn waits(&mut self) -> &mut Self {
        if let Some((since, _)) = &mut self.exchange.missing {
            *since = since.checked_sub(LINGER * 2).expect("the clock is older");
        }
        self.exchange.advance(false, false);
        self
    }

    /// The peers that were lost since the last look, and why.
    fn losses(&mut self) -> Vec<String> {
        let losses = std::iter::from_fn(|| self.exchange.take_loss());
        losses.map(|error| error.to_string()).collect()
    }
}

#[test]
fn whose_message_failed_to_arrive_is_lost_although_it_lives() {
    let mut scene = Scene::new();
    scene.receives(ONE, 0).receives(TWO, 0).misses().receives(TWO, 2);
    assert!(scene.losses().is_empty(), "its end may be told yet");
    assert!(scene.exchange.watches_clock(), "nobody sleeps for ever meanwhile");
    let cause = "message 1 never came, and 1 later ones have: the connection was reset";
    assert_eq!(scene.waits().losses(), [format!("node 2 was lost over script: {cause}")]);
    assert!(!scene.exchange.watches_clock() && scene.misses().waits().losses().is_empty(), "once");
}

#[test]
fn a_message_behind_which_none_came_may_be_anybodys() {
    let mut scene = Scene::new();
    let losses = scene.receives(ONE, 0).misses().waits().losses();
    assert_eq!(losses.len(), 2);
    assert!(losses.iter().all(|loss| loss.ends_with("never came: the connection was reset")), "{losses:?}");
}

#[test]
fn a_message_that_failed_to_arrive_is_explained_by_the_end_of_its_sender() {
    let ends = || Event::Broken(ONE, "it was killed".to_owned());
    let mut before = Scene::new();
    before.receives(TWO, 1).happens(ends()).misses();
    let mut after = Scene::new();
    after.receives(TWO, 1).misses().happens(ends());
    for mut scene in [before, after] {
        assert_eq!(scene.waits().losses(), ["node 1 was lost over script: it was killed"]);
    }
}

#[test]
fn an_operation_at_a_lost_peer_waits_until_the_loss_was_told() {
    let mut scene = Scene::new();
    let post = |scene: &mut Scene| {
        let key = RegionKey { node: ONE, slot: 0, generation: 1, len: 8 };
        let get = Get { key, offset: 0, into: MemoryMut::heap_zeroed(8), len: 8, token: 7 };
        scene.exchange.post_runs(get.into(), Runs::new([Run { at: 0, here: 0, len: 8 }]))
    };
    scene.happens(Event::Broken(ONE, "it was killed".to_owned()));
    assert!(post(&mut scene).is_err(), "what it fails with is not known yet");
    assert_eq!(scene.losses(), ["node 1 was lost over script: it was killed"]);
    let failed = post(&mut scene).ok().flatten().expect("it is over at once");
    assert_eq!(failed.result, Err(TransferError::PeerLost(ONE)));
}
