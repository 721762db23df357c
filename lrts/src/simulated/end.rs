//! End of the wires at one node: sends frames, and hands those that have arrived to the sink; where memory moves directly, posts gets and puts, and
//! views memory of neighbours.
//! `**simulated/end** -> simulated/wires -> **simulated/end**`

use super::direct::{Request, Requests};
use super::wires::{Load, Wires};
use crate::error::{LrtsError, TransferError};
use crate::fabric::remote_operation;
use crate::frame::{Channel, Frame};
use crate::ids::NodeId;
use crate::lrts::{Capabilities, Entering, Get, Lrts, NoRoom, PathUse, Posted, Put, Refused, Sink};
use crate::memcpy::copy;
use crate::memory::Memory;
use crate::operation::Operation;
use crate::region::{RegionKey, Regions};
use crate::runs::{Run, Runs};
use parking_lot::Mutex;
use rustix::fd::BorrowedFd;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The longest frame: some chunks of a long transfer, and few enough bytes that many are under way at a time.
const FRAME_BYTES_MAX: usize = 16 << 10;

/// The same where a model describes the network: as long as the emulated get and put send pieces, each of which has its own overhead.
const MODELLED_FRAME_BYTES_MAX: usize = 513 << 10;

/// Bytes of a frame that are there when it has begun to arrive.
const BEGUN_BYTES: usize = 256;

/// A node's end; see the file's head.
pub struct End {
    node: NodeId,
    /// Its gets and puts, where it has its own.
    direct: Option<Direct>,
    wires: Arc<Wires>,
    frame_bytes_max: usize,
    /// By node, from the first frame on.
    sent: Mutex<BTreeMap<NodeId, PathUse>>,
    nodes: u32,
    closing: AtomicBool,
    /// Whether it has said goodbye.
    has_left: AtomicBool,
    /// Peers that have said goodbye to this node, or were lost.
    gone_peers: AtomicU32,
}

impl End {
    /// The end at a node, of wires between so many nodes.
    pub fn new(node: NodeId, nodes: u32, wires: &Arc<Wires>) -> Self {
        Self {
            node,
            direct: None,
            wires: Arc::clone(wires),
            frame_bytes_max: if wires.are_modelled() { MODELLED_FRAME_BYTES_MAX } else { FRAME_BYTES_MAX },
            sent: Mutex::default(),
            nodes,
            closing: AtomicBool::new(false),
            has_left: AtomicBool::new(false),
            gone_peers: AtomicU32::new(0),
        }
    }

    /// The same, with a get and put of its own; `lends` if memory is viewed in place, too.
    pub fn direct(regions: &Arc<Regions>, nodes: u32, wires: &Arc<Wires>, lends: bool) -> Self {
        wires.open_memory(regions);
        let (requests, regions) = (Mutex::new(Requests::new(Arc::clone(regions))), Arc::clone(regions));
        let end = Self::new(regions.node(), nodes, wires);
        Self { direct: Some(Direct { regions, requests, lends }), ..end }
    }

    /// Whether it has a get and put of its own.
    pub(crate) fn is_direct(&self) -> bool {
        self.direct.is_some()
    }

    /// Frames that a peer was sent.
    pub(crate) fn sent(&self, peer: NodeId) -> PathUse {
        self.sent.lock().get(&peer).copied().unwrap_or_default()
    }
}

/// A node's part in direct access.
struct Direct {
    regions: Arc<Regions>,
    requests: Mutex<Requests>,
    /// Whether memory is viewed in place.
    lends: bool,
}

impl End {
    /// The node's part in direct access.
    ///
    /// # Panics
    /// If it has none.
    fn own_access(&self) -> &Direct {
        self.direct.as_ref().expect("who has no get and put of its own is not asked for them")
    }

    fn post(&self, operation: Operation, runs: Runs) -> Result<Posted, Operation> {
        let peer = operation.key.node;
        if self.closing.load(Ordering::Relaxed) {
            return Err(operation);
        }
        let (have, need) = (operation.local.place().len as u64, runs.local_bytes() as u64);
        if have < need {
            return Ok(Posted::Done(operation.end(Err(TransferError::LocalTooShort { have, need }))));
        }
        if peer.0 >= self.nodes {
            return Ok(Posted::Done(operation.end(Err(TransferError::StaleKey(peer)))));
        }
        self.own_access().requests.lock().post(operation, runs, |request| self.wires.ask(request))?;
        Ok(Posted::Pending)
    }

    fn post_whole(&self, operation: Operation) -> Result<Posted, Operation> {
        let whole = Run { at: 0, here: 0, len: operation.len };
        self.post(operation, Runs::new([whole]))
    }

    /// Answers requests of others that have waited for claims to end, and says goodbye when none of this node's is open. Returns whether any
    /// went on.
    fn go_on_with_requests(&self) -> bool {
        let Some(direct) = &self.direct else { return false };
        let closing = self.closing.load(Ordering::Relaxed);
        let due = direct.requests.lock().take_due(closing);
        let happened = !due.is_empty();
        for request in due {
            self.serve(direct, request, closing);
        }
        if closing && !self.has_left.load(Ordering::Relaxed) && direct.requests.lock().is_idle() {
            self.leave();
        }
        happened
    }

    /// Answers a request of another node, if nobody else's claim is in the way; when closing, in any case.
    fn serve(&self, direct: &Direct, request: Request, closing: bool) {
        let answered = match closing {
            true => {
                let answer = request.serve(&direct.regions);
                let gone = Err(TransferError::PeerLost(self.node));
                Some((request, answer.unwrap_or(gone)))
            }
            false => direct.requests.lock().serve(request),
        };
        if let Some((request, answer)) = answered {
            self.wires.answer(self.wires.now(self.node), self.node, &request, answer);
        }
    }

    /// Tells of the ends of requests at a node that is lost.
    fn abandon(&self, lost: NodeId, sink: &mut dyn Sink) {
        if let Some(direct) = &self.direct {
            let ended = direct.requests.lock().abandon(lost);
            ended.into_iter().for_each(|completion| sink.completion(completion));
        }
    }

    fn leave(&self) {
        if !self.has_left.swap(true, Ordering::Relaxed) {
            self.wires.say_goodbye(self.node);
        }
    }
}

impl Lrts for End {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            messages: true,
            get: self.is_direct(),
            put: self.is_direct(),
            runs: self.is_direct(),
            view: self.direct.as_ref().is_some_and(|direct| direct.lends),
            device: false,
            immediate: false,
            frame_bytes_max: self.frame_bytes_max,
        }
    }

    fn send(&self, target: NodeId, frame: Frame<'_>) -> Result<(), NoRoom> {
        assert!(frame.len() <= self.frame_bytes_max, "frame of {} bytes", frame.len());
        if self.closing.load(Ordering::Relaxed) {
            return Err(NoRoom);
        }
        self.wires.send(self.node, target, frame)?;
        self.sent.lock().entry(target).or_default().add(frame.len());
        Ok(())
    }

    fn progress(&self, sink: &mut dyn Sink) -> bool {
        // What arrives meanwhile is another progress's.
        let waiting = self.wires.waiting(self.node);
        let taken = std::iter::from_fn(|| self.wires.take(self.node)).take(waiting);
        for (source, load) in taken {
            match load {
                Load::Frame(channel, bytes) => hand_over(sink, source, channel, &bytes),
                Load::Goodbye => {
                    self.gone_peers.fetch_add(1, Ordering::Relaxed);
                    sink.peer_closed(source);
                }
                Load::Loss => {
                    self.gone_peers.fetch_add(1, Ordering::Relaxed);
                    let cause = "it was gone without a goodbye".to_owned();
                    sink.peer_lost(LrtsError::PeerLost { peer: source, backend: self.name(), cause });
                    self.abandon(source, sink);
                }
                Load::Left => self.abandon(source, sink),
                Load::Request(request) => {
                    self.serve(self.own_access(), request, self.closing.load(Ordering::Relaxed));
                }
                Load::Answered(id, answer) => {
                    let ended = self.own_access().requests.lock().conclude(id, answer);
                    ended.into_iter().for_each(|completion| sink.completion(completion));
                }
                _ => unreachable!("what endpoints send each other, or is not left here"),
            }
        }
        self.go_on_with_requests() || waiting > 0
    }

    /// # Panics
    /// If it has no get of its own: [`Emulated`](crate::emulated::Emulated) has one then.
    fn get(&self, get: Get) -> Result<Posted, Refused<Get>> {
        remote_operation::get(&self.own_access().regions, get, |operation| self.post_whole(operation))
    }

    /// # Panics
    /// If it has no put of its own: [`Emulated`](crate::emulated::Emulated) has one then.
    fn put(&self, put: Put) -> Result<Posted, Refused<Put>> {
        remote_operation::put(&self.own_access().regions, put, |operation| self.post_whole(operation))
    }

    fn get_runs(&self, get: Get, runs: &Runs) -> Result<Posted, Refused<Get>> {
        self.post(get.into(), runs.clone()).map_err(|operation| Refused(operation.into_get()))
    }

    fn put_runs(&self, put: Put, runs: &Runs) -> Result<Posted, Refused<Put>> {
        self.post(put.into(), runs.clone()).map_err(|operation| Refused(operation.into_put()))
    }

    fn view(
        &self,
        key: &RegionKey,
        offset: u64,
        len: usize,
        _: Entering,
    ) -> Result<Option<Memory>, TransferError> {
        match &self.direct {
            Some(Direct { lends: true, .. }) => match self.wires.regions_of(key.node) {
                Some(regions) => copy::view(&regions, key, offset, len),
                None => Err(TransferError::PeerLost(key.node)),
            },
            _ => Ok(None),
        }
    }

    fn arm(&self) -> bool {
        let is_due = self.direct.as_ref().is_some_and(|direct| direct.requests.lock().is_due());
        !is_due && self.wires.waiting(self.node) == 0
    }

    /// None: whoever drives the node is told of arrivals and of room by the [`Wires`].
    fn event_fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn shutdown(&self) {
        if self.closing.swap(true, Ordering::Relaxed) {
            return;
        }
        match self.direct {
            Some(_) => _ = self.go_on_with_requests(),
            None => self.leave(),
        }
    }

    fn is_closed(&self) -> bool {
        self.has_left.load(Ordering::Relaxed)
            && self.gone_peers.load(Ordering::Relaxed) + self.wires.heard_quietly(self.node) + 1 == self.nodes
    }
}

/// Hands a frame over: one of which more than the front is missing when it has begun to arrive comes by halves where the sink wants it.
fn hand_over(sink: &mut dyn Sink, source: NodeId, channel: Channel, bytes: &[u8]) {
    let (begun, mut rest) = bytes.split_at(bytes.len().min(BEGUN_BYTES));
    if rest.is_empty() || !sink.begin(source, channel, begun, bytes.len()) {
        return sink.frame(source, channel, bytes);
    }
    while !rest.is_empty() {
        sink.rest(source, &mut |place| {
            let (come, missing) = rest.split_at(rest.len().div_ceil(2));
            place[..come.len()].copy_from_slice(come);
            rest = missing;
            come.len()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ambient::Ambient;
    use crate::lrts::Completion;
    use crate::memory::MemoryMut;
    use crate::region::Held;
    use crate::simulated::Arrival;
    use std::collections::BTreeSet;

    const NODES: u32 = 3;

    #[derive(Default)]
    struct Heard {
        frames: Vec<(NodeId, Channel, Vec<u8>)>,
        closed: Vec<NodeId>,
        lost: Vec<NodeId>,
        completions: Vec<Completion>,
    }

    impl Sink for Heard {
        fn frame(&mut self, source: NodeId, channel: Channel, bytes: &[u8]) {
            self.frames.push((source, channel, bytes.to_vec()));
        }

        fn completion(&mut self, completion: Completion) {
            self.completions.push(completion);
        }

        fn peer_closed(&mut self, peer: NodeId) {
            self.closed.push(peer);
        }

        fn peer_lost(&mut self, error: LrtsError) {
            self.lost.extend(error.peer());
        }
    }

    /// Sends numbered frames from the other nodes to node 0, by two callers each and on both channels, and lets all arrive.
    fn flood(seed: u64) -> (Vec<Arrival>, Heard) {
        let (wires, ambient) = (Wires::new(NODES, seed), Ambient::new(seed, 0));
        let ends: Vec<End> = (0..NODES).map(|node| End::new(NodeId(node), NODES, &wires)).collect();
        let (mut heard, mut arrivals) = (Heard::default(), Vec::new());
        let mut arrive = |now: u64| {
            while let Some((_, node)) = wires.next(0).filter(|(moment, _)| *moment <= now) {
                arrivals.extend(wires.arrive(node));
                ambient.within(now, 0, || ends.iter().for_each(|end| _ = end.progress(&mut heard)));
            }
        };
        for number in 0_u32..200 {
            for (source, caller, channel) in [
                (1, 0, Channel::Runtime),
                (1, 1, Channel::Runtime),
                (1, 1, Channel::Emulated),
                (2, 2, Channel::Runtime),
                (2, u64::from(number), Channel::Emulated),
            ] {
                let bytes = [caller as u8, number as u8];
                let frame = Frame { channel, head: &bytes[..1], body: &bytes[1..] };
                let now = u64::from(number) * 100;
                let mut is_refused = false;
                while ambient.within(now, caller, || ends[source].send(NodeId(0), frame)).is_err() {
                    is_refused = true;
                    arrive(wires.next(0).expect("what fills the room arrives").0);
                }
                let is_told = wires.take_roomy(0).contains(&NodeId(source as u32));
                assert_eq!(is_told, is_refused, "who found no room is told of it");
            }
        }
        for end in &ends {
            ambient.within(20_000, 9, || end.shutdown());
            assert_eq!(end.send(NodeId(0), Frame::runtime(&[])), Err(NoRoom), "after its goodbye");
        }
        arrive(u64::MAX);
        assert!(ends.iter().all(Lrts::is_closed));
        (arrivals, heard)
    }

    #[test]
    fn frames_of_one_caller_arrive_in_order_and_those_of_emulated_all_together() {
        let mut overtaken = 0;
        for seed in 0..20 {
            let (_, heard) = flood(seed);
            assert_eq!((heard.frames.len(), heard.lost.len()), (1_000, 0), "each once");
            let numbers = |source, channel, caller: Option<u8>| {
                let of_lane = heard.frames.iter().filter(move |(from, on, bytes)| {
                    (*from, *on) == (NodeId(source), channel)
                        && caller.is_none_or(|caller| bytes[0] == caller)
                });
                of_lane.map(|(.., bytes)| bytes[1]).collect::<Vec<_>>()
            };
            for (source, channel, caller) in [
                (1, Channel::Runtime, Some(0)),
                (1, Channel::Runtime, Some(1)),
                (1, Channel::Emulated, None),
                (2, Channel::Runtime, None),
                (2, Channel::Emulated, None),
            ] {
                assert!(
                    numbers(source, channel, caller).into_iter().eq(0..200),
                    "seed {seed}: {source}, {channel:?}"
                );
            }
            overtaken += u32::from(!numbers(1, Channel::Runtime, None).is_sorted());
            assert_eq!(heard.closed.len(), 2 * NODES as usize, "each end heard of both others");
            let last: BTreeSet<_> = heard.closed.iter().collect();
            assert_eq!(last.len(), NODES as usize);
        }
        assert!(overtaken > 10, "callers overtake each other: {overtaken} of 20");
    }

    #[test]
    fn the_seed_decides_when_each_frame_arrives() {
        assert_eq!(flood(3).0, flood(3).0);
        assert_ne!(flood(3).0, flood(4).0);
        assert!(flood(5).0.is_sorted_by_key(|arrival| arrival.moment));
    }

    #[test]
    fn of_a_lost_node_peers_hear_what_it_sent_first_and_then_that_it_is_lost() {
        let mut whole = 0;
        for seed in 0..40 {
            let (wires, ambient) = (Wires::new(NODES, seed), Ambient::new(seed, 0));
            let ends: Vec<End> = (0..NODES).map(|node| End::new(NodeId(node), NODES, &wires)).collect();
            let send = |source: usize, target, number: u8| {
                let frame = Frame { channel: Channel::Emulated, head: &[number], body: &[] };
                ambient.within(0, 0, || ends[source].send(NodeId(target), frame))
            };
            let sent = (0..20).take_while(|number| send(1, 0, *number).is_ok()).count();
            // It has said goodbye to nobody; node 2 has, and goes in peace.
            ambient.within(0, 0, || ends[2].shutdown());
            wires.lose(NodeId(2), 1);
            wires.lose(NodeId(1), 1);
            assert_eq!(send(0, 1, 0), Ok(()), "what is sent to it vanishes");
            let mut heard = Heard::default();
            while let Some(arrival) = wires.next(0).and_then(|(_, node)| wires.arrive(node)) {
                assert_eq!(arrival.target, NodeId(0), "nobody else is there");
                ambient.within(arrival.moment, 0, || ends[0].progress(&mut heard));
            }
            assert!(heard.frames.iter().map(|(.., bytes)| bytes[0]).eq(0..heard.frames.len() as u8));
            assert_eq!((heard.lost, heard.closed), (vec![NodeId(1)], vec![NodeId(2)]));
            whole += u32::from(heard.frames.len() == sent);
            ambient.within(u64::MAX >> 1, 0, || ends[0].shutdown());
            assert!(ends[0].is_closed(), "it waits for no lost peer");
        }
        assert!((1..40).contains(&whole), "some come whole: {whole} of 40");
    }

    /// Has node 1 of so many send node 0 a frame, loses a node if one is to be, and has all others say goodbye; returns how much arrives.
    fn part(nodes: u32, lost: Option<NodeId>) -> usize {
        let (wires, ambient) = (Wires::new(nodes, 5), Ambient::new(5, 0));
        let ends: Vec<End> = (0..nodes).map(|node| End::new(NodeId(node), nodes, &wires)).collect();
        let sent = ambient.within(0, 0, || ends[1].send(NodeId(0), Frame::runtime(&[7])));
        sent.expect("there is room");
        let mut arrivals = wires.arrive(NodeId(0)).into_iter().count();
        let is_there = |node: NodeId| Some(node) != lost;
        lost.iter().for_each(|node| wires.lose(*node, 1));
        ends.iter().filter(|end| is_there(end.node)).for_each(|end| ambient.within(10, 0, || end.shutdown()));
        let mut heard = Heard::default();
        let mut all_are_told = false;
        while let Some(arrival) = wires.next(0).and_then(|(_, node)| wires.arrive(node)) {
            arrivals += 1;
            ambient.within(arrival.moment, 0, || ends[arrival.target.index()].progress(&mut heard));
        }
        while wires.hear_goodbye(0, u64::MAX).is_some() {
            arrivals += 1;
            all_are_told |= wires.take_roomy(0).len() == nodes as usize;
        }
        assert!(ends.iter().all(|end| end.is_closed() == is_there(end.node)));
        assert_eq!(all_are_told, nodes > 64, "who may be done is told when the last has left");
        assert_eq!(heard.frames.len(), 1);
        arrivals
    }

    #[test]
    fn few_nodes_say_goodbye_to_each_other_and_many_to_those_that_they_have_met() {
        assert_eq!(part(10, None), 1 + 10 * 9);
        assert_eq!(part(100, None), 1 + 2 + 100);
        assert_eq!(part(10, Some(NodeId(4))), 1 + 9 + 9 * 8);
        assert_eq!(part(100, Some(NodeId(4))), 1 + 99 + 2 + 99);
    }

    #[test]
    fn with_a_model_frames_take_what_it_says() {
        let network = "loggops:L=2500,o=1500,g=1000,G=6,O=0".parse().expect("it is one");
        let (wires, ambient) = (Wires::modelled(2, 7, network, 1), Ambient::new(7, 0));
        let ends = [0, 1].map(|node| End::new(NodeId(node), 2, &wires));
        let bytes = [0; 1_024];
        let send =
            || (0..2).for_each(|_| ends[0].send(NodeId(1), Frame::runtime(&bytes)).expect("there is room"));
        let ((), over) = ambient.within_until(0, 0, send);
        // The second waits for the interface, as it does with LogGOPSim.
        let gap = 1_000 + 6 * 1_023;
        assert_eq!(over, gap + 1_500);
        let moments = [(); 2].map(|()| wires.arrive(NodeId(1)).expect("both arrive").moment);
        assert_eq!(moments, [4_000, gap + 4_000]);
        let mut heard = Heard::default();
        let (_, over) = ambient.within_until(moments[1], 1, || ends[1].progress(&mut heard));
        assert_eq!(heard.frames.len(), 2);
        assert_eq!(over, moments[1] + 2 * (1_500 + 6 * 1_023));
    }

    #[test]
    fn what_is_open_at_a_node_that_is_lost_ends_also_after_its_goodbye() {
        for (seed, says_goodbye) in (0..20).flat_map(|seed| [(seed, false), (seed, true)]) {
            let (wires, ambient) = (Wires::new(2, seed), Ambient::new(seed, 0));
            let regions = [0, 1].map(|node| Arc::new(Regions::private(NodeId(node)).expect("a board")));
            let ends = [0, 1].map(|node: usize| End::direct(&regions[node], 2, &wires, true));
            let held = Held::Source(MemoryMut::heap_zeroed(100).freeze());
            let key = regions[0].register(held).expect("there is room");
            let get = |token| Get { key, offset: 0, into: MemoryMut::heap_zeroed(100), len: 100, token };
            let open = ambient.within(0, 1, || ends[1].get(get(7)));
            assert!(matches!(open, Ok(Posted::Pending)));
            if says_goodbye {
                ambient.within(0, 0, || ends[0].shutdown());
            }
            wires.lose(NodeId(0), 1);
            let mut heard = Heard::default();
            while let Some(arrival) = wires.next(0).and_then(|(_, node)| wires.arrive(node)) {
                ambient.within(arrival.moment, 1, || ends[1].progress(&mut heard));
            }
            let results: Vec<_> = heard.completions.iter().map(|end| end.result.clone()).collect();
            assert_eq!(results, [Err(TransferError::PeerLost(NodeId(0)))], "{says_goodbye}");
            assert_eq!(heard.lost.is_empty(), says_goodbye);
            let late = ambient.within(1 << 40, 1, || ends[1].get(get(8)));
            assert!(matches!(late, Ok(Posted::Pending)));
            while let Some(arrival) = wires.next(0).and_then(|(_, node)| wires.arrive(node)) {
                ambient.within(arrival.moment, 1, || ends[1].progress(&mut heard));
            }
            assert_eq!(heard.completions.len(), 2, "it is told at once");
        }
    }
}
