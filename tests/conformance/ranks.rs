//! Ranks of MPI: three processes, each one node. Every node does the same to all others, and checks that each did it, too.
//!
//! A phase ends when all nodes say so, each of which goes on making progress until then.

use crate::group::{Group, Heard, Node, PATIENCE, assert_pattern, fill};
use chare_lrts::bootstrap::Bootstrap;
use chare_lrts::bootstrap::managed::Managed;
use chare_lrts::mpi::{Mpi, Process};
use chare_lrts::{
    Completion, Get, Held, LrtsError, NodeId, Posted, Put, Refused, RegionKey, Regions, TransferError,
};
use std::process::ExitCode;
use std::sync::Arc;

/// Around every boundary: MPI's own for short messages, and those of our pieces.
const SIZES: [usize; 10] = [0, 1, 63, 4_096, 65_536, 65_537, 1 << 20, 4 << 20, (4 << 20) + 1, 20_000_000];

/// Operations of each kind at each peer, more than may be open.
const EACH: usize = 150;

/// Bytes of a region.
const REGION_BYTES: usize = 20_000_000;

/// The message of a node that has come to a phase's end, with its number.
const AGREED: &[u8] = b"agreed ";

/// One of the processes.
struct Rank {
    bootstrap: Managed,
    group: Group,
    me: NodeId,
    others: Vec<NodeId>,
    /// How many phases are over.
    phase: u8,
}

/// Plays one to its end.
pub(crate) fn play() -> ExitCode {
    match Rank::open() {
        Ok(rank) => rank.play(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

impl Rank {
    fn open() -> Result<Self, LrtsError> {
        let mut bootstrap = Managed::by_mpi(None, PATIENCE)?;
        let (me, nodes) = (bootstrap.node(), bootstrap.nodes());
        let communicator = bootstrap.communicator().expect("MPI says who is in the job");
        let place = |rank| Process { communicator: Arc::clone(&communicator), rank };
        let places: Vec<Process> = (0..nodes).map(place).collect();
        let others: Vec<NodeId> = (0..nodes).map(NodeId).filter(|peer| *peer != me).collect();
        let regions = Arc::new(Regions::new(me)?);
        let mpi = Mpi::open(&mut bootstrap, &others, Arc::clone(&regions), &places, PATIENCE)?;
        let group = Group::new(vec![Node::with_heap(Arc::new(mpi), regions)]);
        Ok(Self { bootstrap, group, me, others, phase: 0 })
    }

    fn play(mut self) -> ExitCode {
        assert_eq!(self.others.len(), 2, "three processes play");
        self.exchange_frames();
        let source = self.group.nodes[0].source(REGION_BYTES, self.me.0 as u8);
        let target = self.group.nodes[0].target(REGION_BYTES * self.others.len());
        let (sources, targets) = (self.tell(source), self.tell(target));
        self.get_every_size(&sources);
        self.do_many_at_once(&sources, &targets);
        self.fail_as_told(&sources, &targets);
        self.agree();
        let Held::Target(memory) = self.group.nodes[0].end(&target) else { panic!("it was a target") };
        for peer in &self.others {
            let first = self.part_of(*peer, self.me);
            assert_pattern(&memory.as_slice()[first..first + 64 * EACH], 0, peer.0 as u8);
        }
        drop(self.group.nodes[0].end(&source));
        self.group.close();
        if self.me == NodeId(0) {
            println!("three processes did as they must");
        }
        self.bootstrap.into_session().finish();
        ExitCode::SUCCESS
    }

    /// Where a node writes into another's target: each has a part of its own.
    fn part_of(&self, writer: NodeId, owner: NodeId) -> usize {
        let before = (0..writer.0).filter(|node| *node != owner.0).count();
        before * REGION_BYTES
    }

    /// Waits until all nodes have come here. A fast node says so again, for the next phase, before this node has heard the slow ones.
    fn agree(&mut self) {
        self.phase += 1;
        let word = [AGREED, &[self.phase]].concat();
        for peer in self.others.clone() {
            self.group.send(0, peer.index(), word.clone());
        }
        let all = self.others.len();
        self.group.until("the others", |group| {
            group.heard[0].frames.iter().filter(|(_, frame)| *frame == word).count() == all
        });
        self.group.heard[0].frames.retain(|(_, frame)| *frame != word);
    }

    /// Tells the others one of this node's regions. Returns all nodes'.
    fn tell(&mut self, key: RegionKey) -> Vec<RegionKey> {
        let words = [u64::from(key.slot), key.generation, key.len];
        let mine = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let told = self.bootstrap.all_gather(mine).expect("the others tell theirs");
        let key = |(node, bytes): (u32, &Vec<u8>)| {
            let (words, _) = bytes.as_chunks::<8>();
            let word = |index: usize| u64::from_le_bytes(words[index]);
            RegionKey { node: NodeId(node), slot: word(0) as u32, generation: word(1), len: word(2) }
        };
        (0..).zip(&told).map(key).collect()
    }

    fn exchange_frames(&mut self) {
        let max = self.group.nodes[0].lrts.capabilities().frame_bytes_max;
        let sizes = [0, 1, 100, 4_000, 5_000, 20_000, max - 1, max];
        for round in 0..20_u8 {
            for (peer, len) in self.others.clone().into_iter().flat_map(|peer| sizes.map(|len| (peer, len))) {
                let mut bytes = vec![0; len];
                fill(&mut bytes, round);
                self.group.send(0, peer.index(), bytes);
            }
        }
        let all = 20 * sizes.len() * self.others.len();
        let is_content = |(_, frame): &(NodeId, Vec<u8>)| !frame.starts_with(AGREED);
        self.group.until("all frames", |group| {
            group.heard[0].frames.iter().filter(|one| is_content(one)).count() == all
        });
        let heard = std::mem::take(&mut self.group.heard[0].frames);
        let (frames, words): (Vec<_>, Vec<_>) = heard.into_iter().partition(is_content);
        self.group.heard[0].frames = words;
        for peer in &self.others {
            let heard = frames.iter().filter(|(source, _)| source == peer);
            let expected = (0..20_u8).flat_map(|round| sizes.map(|len| (round, len)));
            for ((_, frame), (round, len)) in heard.zip(expected) {
                assert_eq!(frame.len(), len, "frames of {peer} in order");
                assert_pattern(frame, 0, round);
            }
        }
        self.agree();
    }

    fn get_every_size(&mut self, sources: &[RegionKey]) {
        for (len, peer) in
            SIZES.into_iter().flat_map(|len| self.others.clone().into_iter().map(move |one| (len, one)))
        {
            let offset = REGION_BYTES - len;
            let got = self.group.get_bytes(0, sources[peer.index()], offset as u64, len);
            assert_pattern(&got.expect("a get within the region").as_slice()[..len], offset, peer.0 as u8);
        }
        self.agree();
    }

    fn do_many_at_once(&mut self, sources: &[RegionKey], targets: &[RegionKey]) {
        let (mut gets, mut puts) = (Vec::new(), Vec::new());
        for peer in self.others.clone() {
            let first = self.part_of(self.me, peer);
            for round in 0..EACH {
                let len = (round * 40_009) % REGION_BYTES;
                let (offset, into) = ((REGION_BYTES - len) as u64, (self.group.nodes[0].allocate)(len));
                gets.push(Get { key: sources[peer.index()], offset, into, len, token: u64::from(peer.0) });
                let memory = self.group.nodes[0].memory(64 * (round + 1), self.me.0 as u8);
                let from = memory.freeze().slice(64 * round, 64);
                let offset = (first + 64 * round) as u64;
                puts.push(Put { key: targets[peer.index()], offset, from, token: u64::MAX });
            }
        }
        let mut open = gets.len() + puts.len();
        self.group.until("all operations", |group| {
            let (lrts, Heard { completions, lost, .. }) = (&group.nodes[0].lrts, &mut group.heard[0]);
            assert!(lost.is_empty(), "{lost:?}");
            let mut take = |posted| {
                if let Posted::Done(completion) = posted {
                    completions.push(completion);
                }
            };
            let retry = std::mem::take(&mut gets).into_iter().filter_map(|get| match lrts.get(get) {
                Ok(posted) => {
                    take(posted);
                    None
                }
                Err(Refused(get)) => Some(get),
            });
            gets = retry.collect();
            let retry = std::mem::take(&mut puts).into_iter().filter_map(|put| match lrts.put(put) {
                Ok(posted) => {
                    take(posted);
                    None
                }
                Err(Refused(put)) => Some(put),
            });
            puts = retry.collect();
            for Completion { token, result, memory } in completions.drain(..) {
                open -= 1;
                match memory {
                    None => assert_eq!(result, Ok(64)),
                    Some(memory) => {
                        assert_eq!(result, Ok(memory.len()));
                        assert_pattern(memory.as_slice(), REGION_BYTES - memory.len(), token as u8);
                    }
                }
            }
            open == 0
        });
        self.agree();
    }

    fn fail_as_told(&mut self, sources: &[RegionKey], targets: &[RegionKey]) {
        for peer in self.others.clone() {
            let source = sources[peer.index()];
            let stale = RegionKey { generation: source.generation ^ 1, ..source };
            let got = self.group.get_bytes(0, stale, 0, 100_000).map(drop);
            assert_eq!(got, Err(TransferError::StaleKey(peer)));
            let (offset, len) = (REGION_BYTES as u64 - 10, 100_000);
            let got = self.group.get_bytes(0, source, offset, len).map(drop);
            let region_len = REGION_BYTES as u64;
            assert_eq!(
                got,
                Err(TransferError::OutOfRange { node: peer, offset, len: len as u64, region_len })
            );
            let from = self.group.nodes[0].memory(100_000, 1).freeze();
            assert_eq!(self.group.put_bytes(0, source, 0, from.clone()), Err(TransferError::ReadOnly(peer)));
            let stale = RegionKey { slot: targets[peer.index()].slot + 1, ..targets[peer.index()] };
            assert_eq!(self.group.put_bytes(0, stale, 0, from), Err(TransferError::StaleKey(peer)));
        }
    }
}
