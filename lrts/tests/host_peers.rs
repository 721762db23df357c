//! Tests of nodes in processes of their own: shared memory, copies by the kernel, denial, exhaustion and sudden death.
//!
//! A test starts this program again as its neighbour; the neighbour runs the same test function, which then
//! plays the other role. The socket between them is the neighbour's standard input.

use chare_lrts::bootstrap::{Bootstrap, JobKey, Membership};
use chare_lrts::cma::{self, Cma};
use chare_lrts::host::{ArenaError, HostPeers};
use chare_lrts::shm::Shm;
use chare_lrts::{
    Channel, Completion, Entering, Frame, Get, Held, Lrts, LrtsError, MemoryMut, NodeId, Posted, Put,
    Refused, RegionKey, Regions, Sink, TransferError,
};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd, OwnedFd};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::{Resource, Rlimit};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;

const PARENT: NodeId = NodeId(0);
const CHILD: NodeId = NodeId(1);
const PATIENCE: Duration = Duration::from_secs(60);
const ROLE: &str = "CHARE_TEST_NEIGHBOUR";

struct Pair(Membership);

impl Bootstrap for Pair {
    fn membership(&self) -> &Membership {
        &self.0
    }

    fn membership_mut(&mut self) -> &mut Membership {
        &mut self.0
    }

    fn all_gather(&mut self, _value: Vec<u8>) -> Result<Vec<Vec<u8>>, LrtsError> {
        unreachable!("neighbours meet without it")
    }
}

/// What a node of these tests has.
struct Node {
    regions: Arc<Regions>,
    host_peers: Arc<HostPeers>,
    shm: Shm,
}

impl Node {
    fn open(node: NodeId, socket: OwnedFd) -> Self {
        cma::permit(cma::Permit::Anybody);
        let regions = Arc::new(Regions::new(node).expect("memory"));
        let neighbours = vec![(NodeId(1 - node.0), socket)];
        let mut bootstrap = Pair(Membership::new(node, 2, JobKey::random(), neighbours));
        let host_peers =
            HostPeers::open(&mut bootstrap, Arc::clone(&regions), PATIENCE).expect("a neighbour");
        let shm = Shm::open(Arc::clone(&host_peers));
        Self { regions, host_peers, shm }
    }

    fn send(&self, target: NodeId, bytes: &[u8]) {
        while self.shm.send(target, Frame::runtime(bytes)).is_err() {
            self.shm.progress(&mut Heard::default());
        }
    }

    fn send_key(&self, target: NodeId, key: RegionKey) {
        let fields = [u64::from(key.node.0), u64::from(key.slot), key.generation, key.len];
        self.send(target, &fields.map(u64::to_le_bytes).concat());
    }

    fn hear_until(&self, heard: &mut Heard, mut done: impl FnMut(&Heard) -> bool) {
        let patience = Timespec { tv_sec: 60, tv_nsec: 0 };
        while !done(heard) {
            if !self.shm.progress(heard) && self.shm.arm() {
                let descriptor = self.shm.event_fd().expect("a doorbell");
                let mut waiting = [PollFd::new(&descriptor, PollFlags::IN)];
                assert_eq!(rustix::event::poll(&mut waiting, Some(&patience)), Ok(1), "nobody woke us");
            }
        }
    }

    fn hear(&self, frames: usize) -> Vec<Vec<u8>> {
        let mut heard = Heard::default();
        self.hear_until(&mut heard, |heard| heard.frames.len() >= frames);
        heard.frames
    }

    fn hear_key(&self) -> RegionKey {
        let frame = self.hear(1).remove(0);
        let fields: Vec<u64> = frame
            .chunks_exact(8)
            .map(|field| u64::from_le_bytes(field.try_into().expect("eight bytes")))
            .collect();
        let (node, slot) = (NodeId(fields[0] as u32), fields[1] as u32);
        RegionKey { node, slot, generation: fields[2], len: fields[3] }
    }

    fn leave(&self) -> Heard {
        let mut heard = Heard::default();
        self.shm.shutdown();
        self.hear_until(&mut heard, |_| self.shm.is_closed());
        heard
    }
}

#[derive(Default)]
struct Heard {
    frames: Vec<Vec<u8>>,
    closed: Vec<NodeId>,
    lost: Vec<LrtsError>,
}

impl Sink for Heard {
    fn frame(&mut self, _source: NodeId, _channel: Channel, bytes: &[u8]) {
        self.frames.push(bytes.to_vec());
    }

    fn completion(&mut self, completion: Completion) {
        panic!("a path that copies at once delivered {completion:?}");
    }

    fn peer_closed(&mut self, peer: NodeId) {
        self.closed.push(peer);
    }

    fn peer_lost(&mut self, error: LrtsError) {
        self.lost.push(error);
    }
}

/// Starts `test` again as the neighbour of the node that comes back with it. In the neighbour itself, runs `child`
/// and ends the process.
fn with_neighbour(test: &str, child: impl FnOnce(&Node)) -> (Node, Child) {
    if std::env::var_os(ROLE).is_some() {
        let socket = std::io::stdin().as_fd().try_clone_to_owned().expect("a descriptor");
        child(&Node::open(CHILD, socket));
        std::process::exit(0);
    }
    let (here, there) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .expect("sockets");
    let program = std::env::current_exe().expect("a name");
    let child = Command::new(program)
        .args(["--exact", test, "--nocapture"])
        .env(ROLE, "1")
        .stdin(there)
        .spawn()
        .expect("a process");
    (Node::open(PARENT, here), child)
}

fn get(key: RegionKey, len: usize) -> Get {
    Get { key, offset: 0, into: MemoryMut::heap_zeroed(len), len, token: 0 }
}

fn put(key: RegionKey, bytes: Vec<u8>) -> Put {
    Put { key, offset: 0, from: MemoryMut::from_vec(bytes).freeze(), token: 0 }
}

fn over<T: std::fmt::Debug>(posted: Result<Posted, Refused<T>>) -> Completion {
    match posted {
        Ok(Posted::Done(completion)) => completion,
        other => panic!("not over: {other:?}"),
    }
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|index| ((index * 17) >> 3) as u8).collect()
}

#[test]
fn memory_of_both_kinds_is_reached() {
    const LEN: usize = 3 << 20;
    let (node, mut child) = with_neighbour("memory_of_both_kinds_is_reached", |node| {
        let shared = |bytes: &[u8]| {
            let mut memory = node.host_peers.arenas().allocate(bytes.len()).expect("memory");
            memory.as_mut_slice().copy_from_slice(bytes);
            memory
        };
        let heap = |bytes: &[u8]| MemoryMut::from_vec(bytes.to_vec());
        for memory in [&shared as &dyn Fn(&[u8]) -> MemoryMut, &heap] {
            let source = node.regions.register(Held::Source(memory(&pattern(LEN)).freeze())).expect("a slot");
            let target = node.regions.register(Held::Target(memory(&vec![0; LEN]))).expect("a slot");
            node.send_key(PARENT, source);
            node.send_key(PARENT, target);
            node.hear(1);
            let Ok(Some(Held::Target(written))) = node.regions.deregister(&target) else {
                panic!("nobody holds the target");
            };
            assert!(written.as_slice() == pattern(LEN));
            assert!(node.regions.deregister(&source).expect("it lives").is_some());
        }
        node.leave();
    });
    let cma = Cma::open(Arc::clone(&node.host_peers));
    if let Some(warning) = cma.warning() {
        println!("skipped: copies by the kernel: {warning}");
    }
    for is_shared in [true, false] {
        let mut keys = Vec::new();
        let mut heard = Heard::default();
        node.hear_until(&mut heard, |heard| heard.frames.len() == 2);
        for frame in heard.frames.drain(..) {
            let field = |index: usize| {
                u64::from_le_bytes(frame[8 * index..8 * index + 8].try_into().expect("eight bytes"))
            };
            let (generation, len) = (field(2), field(3));
            keys.push(RegionKey { node: NodeId(field(0) as u32), slot: field(1) as u32, generation, len });
        }
        let (source, target) = (keys[0], keys[1]);
        assert_eq!(node.shm.reaches(&source), is_shared);
        let mut paths: Vec<&dyn Lrts> = Vec::new();
        if is_shared {
            paths.push(&node.shm);
            let view = node.shm.view(&source, 5, 100, Entering::AtOnce).expect("it lives").expect("shared");
            assert!(view.as_slice() == &pattern(LEN)[5..105]);
        }
        if cma.allows(CHILD) {
            paths.push(&cma);
        }
        for path in &paths {
            let got = over(path.get(get(source, LEN)));
            assert_eq!(got.result, Ok(LEN), "{}", path.name());
            assert!(got.memory.expect("it comes back").as_slice() == pattern(LEN));
            assert_eq!(over(path.put(put(target, pattern(LEN)))).result, Ok(LEN), "{}", path.name());
        }
        if paths.is_empty() {
            // The neighbour compares in any case; write it what it wants by the only path left.
            child.kill().expect("killed");
            return;
        }
        node.send(CHILD, b"done");
    }
    let heard = node.leave();
    assert_eq!(heard.closed, [CHILD]);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn a_killed_neighbour_is_lost_after_its_last_whole_frame() {
    for round in 0..10 {
        let (node, mut child) =
            with_neighbour("a_killed_neighbour_is_lost_after_its_last_whole_frame", |node| {
                for index in 0_u32.. {
                    let mut frame = pattern(index as usize % 5000 + 4);
                    frame[..4].copy_from_slice(&index.to_le_bytes());
                    node.send(PARENT, &frame);
                }
            });
        let mut heard = Heard::default();
        node.hear_until(&mut heard, |heard| heard.frames.len() > 100 * round);
        child.kill().expect("killed");
        node.hear_until(&mut heard, |heard| !heard.lost.is_empty());
        assert!(matches!(heard.lost[..], [LrtsError::PeerLost { peer: CHILD, .. }]));
        for (index, frame) in heard.frames.iter().enumerate() {
            let mut expected = pattern(index % 5000 + 4);
            expected[..4].copy_from_slice(&(index as u32).to_le_bytes());
            assert!(*frame == expected, "frame {index} in round {round}");
        }
        node.shm.shutdown();
        assert!(node.shm.is_closed());
        child.wait().expect("it ends");
    }
}

#[test]
fn a_sleeper_notices_a_death() {
    let (node, mut child) = with_neighbour("a_sleeper_notices_a_death", |node| {
        node.send(PARENT, b"here");
        node.hear(1);
    });
    node.hear(1);
    let mut heard = Heard::default();
    while node.shm.progress(&mut heard) {}
    assert!(node.shm.arm());
    child.kill().expect("killed");
    node.hear_until(&mut heard, |heard| !heard.lost.is_empty());
    let key = RegionKey { node: CHILD, slot: 0, generation: 1, len: 8 };
    let cma = Cma::open(Arc::clone(&node.host_peers));
    for path in [&node.shm as &dyn Lrts, &cma] {
        let result = over(path.get(get(key, 8))).result;
        assert!(
            matches!(result, Err(TransferError::PeerLost(CHILD) | TransferError::Refused { .. })),
            "{result:?}"
        );
    }
    child.wait().expect("it ends");
}

/// Makes the kernel answer `EPERM` to copies between processes, for this thread only, as a sandbox would.
fn forbid_copies() {
    let copies = [libc::SYS_process_vm_readv, libc::SYS_process_vm_writev];
    let rules = copies.map(|call| (call, Vec::new())).into();
    let architecture = std::env::consts::ARCH.try_into().expect("it has filters");
    let denied = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, denied, architecture);
    let program: BpfProgram = filter.and_then(TryInto::try_into).expect("two calls are a small filter");
    seccompiler::apply_filter(&program).expect("filters are allowed");
}

#[test]
fn a_sandbox_that_forbids_copies_is_explained() {
    let (node, mut child) = with_neighbour("a_sandbox_that_forbids_copies_is_explained", |node| {
        let key = node.regions.register(Held::Target(MemoryMut::heap_zeroed(64))).expect("a slot");
        node.send_key(PARENT, key);
        node.leave();
        assert!(node.regions.deregister(&key).expect("it lives").is_some(), "no claim is left behind");
    });
    let key = node.hear_key();
    // A thread of its own: the filter cannot be taken off again.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let before = Cma::open(Arc::clone(&node.host_peers));
            forbid_copies();
            let after = Cma::open(Arc::clone(&node.host_peers));
            let warning = after.warning().expect("a warning");
            assert!(warning.contains("node 1") && warning.contains("+nocma"), "{warning}");
            assert!(!after.allows(CHILD) && after.denied(CHILD).is_some());
            for cma in [before, after] {
                let done = over(cma.get(get(key, 64)));
                assert!(matches!(done.result, Err(TransferError::Refused { .. })), "{:?}", done.result);
                assert_eq!(done.memory.expect("it comes back").len(), 64);
                let done = over(cma.put(put(key, vec![1; 64])));
                assert!(matches!(done.result, Err(TransferError::Refused { .. })), "{:?}", done.result);
            }
        });
    });
    node.leave();
    assert!(child.wait().expect("it ends").success());
}

fn limit_descriptors(limit: u64) {
    let maximum = rustix::process::getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit { current: Some(limit), maximum };
    rustix::process::setrlimit(Resource::Nofile, limit).expect("lowered");
}

#[test]
fn a_process_without_descriptors_falls_back() {
    let (node, mut child) = with_neighbour("a_process_without_descriptors_falls_back", |node| {
        limit_descriptors(3);
        node.send(PARENT, b"limited");
        let key = node.hear_key();
        let done = over(node.shm.get(get(key, 100)));
        let Err(TransferError::Refused { node: PARENT, cause }) = done.result else {
            panic!("{:?}", done.result);
        };
        assert!(cause.contains("ulimit"), "{cause}");
        assert!(matches!(node.host_peers.arenas().allocate(100), Err(ArenaError::System(_))));
        let cma = Cma::open(Arc::clone(&node.host_peers));
        if cma.allows(PARENT) {
            assert_eq!(over(cma.get(get(key, 100))).result, Ok(100));
        }
        node.leave();
    });
    node.hear(1);
    let memory = node.host_peers.arenas().allocate(100).expect("memory");
    let key = node.regions.register(Held::Source(memory.freeze())).expect("a slot");
    node.send_key(CHILD, key);
    node.leave();
    assert!(child.wait().expect("it ends").success());
}
