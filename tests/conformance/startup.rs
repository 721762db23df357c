//! Start-up of a job over tcp, among strangers: by scripted bootstraps, which see and forge what nodes tell each other.

use crate::group::{Group, Node, PATIENCE};
use crate::runner::{Check, Outcome, descriptors, family};
use chare_lrts::bootstrap::{Bootstrap, JobKey, Membership};
use chare_lrts::tcp::{Tcp, TcpOptions};
use chare_lrts::{LrtsError, NodeId, Regions};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::{Resource, Rlimit};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Connections that a node keeps before they have proved themselves; and the one it is about to drop.
const HALF_OPEN_MAX: usize = 64 + 1;

/// Repetitions of an overheard connection.
const REPLAYS: usize = 100;

/// Connections that are opened and not finished.
const STRANGERS: usize = 10_000;

/// The memory that they may cost, both sides of them together: each that is kept less than a kibibyte, and what allocators keep.
const STRANGERS_BYTES_MAX: usize = 4 << 20;

/// Memory of this process that is there.
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc is mounted");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it has memory");
    let kibibytes: usize = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kibibytes << 10
}

/// As between hosts.
fn protected() -> TcpOptions {
    TcpOptions { nolocal: true, ..TcpOptions::default() }
}

type Opening = JoinHandle<Result<Tcp, LrtsError>>;

/// Node 0 of a job, which waits for the others in a thread of its own, and where it listens.
fn listening(nodes: u32, key: &JobKey, patience: Duration) -> (Opening, SocketAddr) {
    let (published, heard) = channel();
    let mut bootstrap = Scripted {
        membership: Membership::new(NodeId(0), nodes, key.clone(), Vec::new()),
        addresses: Vec::new(),
        published: Some(published),
    };
    let peers: Vec<NodeId> = (1..nodes).map(NodeId).collect();
    let opening = std::thread::spawn(move || Tcp::open(&mut bootstrap, &peers, &protected(), patience));
    (opening, heard.recv().expect("node 0 listens"))
}

/// A node that connects to node 0 only.
fn connecting(
    node: u32,
    nodes: u32,
    key: &JobKey,
    address: SocketAddr,
    patience: Duration,
) -> Result<Tcp, LrtsError> {
    let mut bootstrap = Scripted {
        membership: Membership::new(NodeId(node), nodes, key.clone(), Vec::new()),
        addresses: vec![address],
        published: None,
    };
    Tcp::open(&mut bootstrap, &[NodeId(0)], &protected(), patience)
}

/// Checks that all nodes are connected to node 0, by a frame each way.
fn assert_work(tcps: Vec<Tcp>) {
    let node = |(index, tcp)| {
        let regions = Regions::new(NodeId(index as u32)).expect("a board");
        Node::with_heap(Arc::new(tcp), Arc::new(regions))
    };
    let mut group = Group::new(tcps.into_iter().enumerate().map(node).collect());
    let last = group.nodes.len() - 1;
    for peer in 1..=last {
        group.send(0, peer, vec![peer as u8; 100_000]);
        group.send(peer, 0, vec![peer as u8; 100]);
    }
    group.until("frames", |group| {
        group.heard[0].frames.len() == last && group.heard[1..].iter().all(|heard| heard.frames.len() == 1)
    });
    group.close();
}

fn a_wrong_key_is_refused() -> Outcome {
    let patience = Duration::from_millis(700);
    let (opening, address) = listening(2, &JobKey::random(), patience);
    let stranger = connecting(1, 2, &JobKey::random(), address, patience).err().expect("the key is wrong");
    assert!(matches!(stranger, LrtsError::Connect { peer: NodeId(0), .. }), "{stranger}");
    assert!(stranger.to_string().contains("job key"), "{stranger}");
    let honest = opening.join().expect("no panic").err().expect("nobody had the key");
    assert!(matches!(honest, LrtsError::Connect { peer: NodeId(1), .. }), "{honest}");
    assert!(honest.to_string().contains("did not prove"), "{honest}");
    Outcome::Passed
}

fn a_stranger_who_listens_is_refused() -> Outcome {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let address = listener.local_addr().expect("it is bound");
    let stranger = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("node 1 connects");
        let mut first = [0; 50];
        socket.read_exact(&mut first).expect("it sends its first message");
        socket.write_all(&first).expect("an echo is no proof");
        let mut rest = Vec::new();
        let _ = socket.read_to_end(&mut rest);
        assert!(rest.is_empty(), "nothing is said to a stranger");
    });
    let error = connecting(1, 2, &JobKey::random(), address, PATIENCE).err().expect("nobody has the key");
    assert!(error.to_string().contains("did not prove that it has the job's key"), "{error}");
    stranger.join().expect("no panic");
    Outcome::Passed
}

/// The connections of two nodes: one for frames, one for the news of its end.
const LINES: usize = 2;

/// Passes bytes on between a connector and `address`; returns what the connector said on each of its connections.
fn tap(address: SocketAddr) -> (SocketAddr, Vec<JoinHandle<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let here = listener.local_addr().expect("it is bound");
    let tap_one = move |listener: TcpListener| {
        let (mut near, _) = listener.accept().expect("the connector connects");
        let mut far = TcpStream::connect(address).expect("node 0 listens");
        let (mut back_from, mut back_to) =
            (far.try_clone().expect("a descriptor"), near.try_clone().expect("a descriptor"));
        let back = std::thread::spawn(move || std::io::copy(&mut back_from, &mut back_to));
        let mut said = Vec::new();
        let mut buffer = [0; 4_096];
        while let Ok(count @ 1..) = near.read(&mut buffer) {
            said.extend_from_slice(&buffer[..count]);
            far.write_all(&buffer[..count]).expect("node 0 reads");
        }
        let _ = far.shutdown(std::net::Shutdown::Both);
        let _ = back.join().expect("no panic");
        said
    };
    let listeners = (0..LINES).map(|_| listener.try_clone().expect("a descriptor"));
    (here, listeners.map(|listener| std::thread::spawn(move || tap_one(listener))).collect())
}

fn a_replayed_connection_is_refused() -> Outcome {
    let key = JobKey::random();
    let (opening, address) = listening(3, &key, PATIENCE);
    // Node 1 is listened to, and leaves.
    let (tap_address, tapped) = tap(address);
    let first = connecting(1, 3, &key, tap_address, PATIENCE).expect("node 1 has the key");
    drop(first);
    let said: Vec<_> = tapped.into_iter().map(|line| line.join().expect("no panic")).collect();
    // Its words, said again: the first message is answered, the hello does not fit the answer.
    for said in said.iter().cycle().take(REPLAYS) {
        let mut replay = TcpStream::connect(address).expect("node 0 listens");
        replay.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        replay.write_all(said).expect("node 0 reads");
        let mut answers = Vec::new();
        let _ = replay.read_to_end(&mut answers);
        assert_eq!(answers.len(), 50, "one answer to the first message, then the end");
    }
    // A second node 1 with the key is refused too: the first was taken.
    let second =
        connecting(1, 3, &key, address, Duration::from_millis(300)).err().expect("there is a node 1");
    assert!(matches!(second, LrtsError::Connect { peer: NodeId(0), .. }), "{second}");
    let outside =
        connecting(7, 8, &key, address, Duration::from_millis(300)).err().expect("there is no node 7");
    assert!(matches!(outside, LrtsError::Connect { .. }), "{outside}");
    let last = connecting(2, 3, &key, address, PATIENCE).expect("node 2 has the key");
    let tcp = opening.join().expect("no panic").expect("all have come");
    drop((tcp, last));
    Outcome::Passed
}

/// Lets this process have as many descriptors as it may. Returns how many.
fn more_descriptors() -> usize {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, ..limit };
    rustix::process::setrlimit(Resource::Nofile, raised).expect("up to the maximum, anybody may");
    limit.maximum.map_or(usize::MAX, |maximum| maximum as usize)
}

/// Opens a connection without waiting for it to be open: a wait would be as long as the queue of those that knocked before.
fn knock(address: &SocketAddr) -> OwnedFd {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket =
        rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).expect("a socket");
    match rustix::net::connect(&socket, address) {
        Ok(()) | Err(Errno::INPROGRESS) => socket,
        Err(errno) => panic!("node 0 listens: {errno}"),
    }
}

fn strangers_do_not_disturb() -> Outcome {
    let key = JobKey::random();
    let (opening, address) = listening(3, &key, PATIENCE);
    let first = connecting(1, 3, &key, address, PATIENCE).expect("node 1 has the key");
    let before = descriptors();
    let mut half_open = VecDeque::new();
    let half_open_max = more_descriptors() / 2;
    let memory = resident_bytes();
    for count in 0..STRANGERS {
        let stranger = knock(&address);
        let garbage: &[u8] = match count % 5 {
            0 => &[],
            1 => &[48],
            2 => &[0, 0],
            3 => &[0xff; 300],
            _ => b"GET / HTTP/1.1\r\n\r\n",
        };
        // Fails when node 0 has dropped it already, or has not yet answered.
        let _ = rustix::io::write(&stranger, garbage);
        half_open.push_back(stranger);
        if half_open.len() > half_open_max {
            half_open.pop_front();
        }
    }
    // Node 0 keeps a bounded number of accepted connections, however many knock.
    let deadline = Instant::now() + PATIENCE;
    while descriptors() > before + half_open.len() + HALF_OPEN_MAX {
        assert!(Instant::now() < deadline, "{} descriptors", descriptors());
        std::thread::yield_now();
    }
    let grown = resident_bytes().saturating_sub(memory);
    assert!(grown < STRANGERS_BYTES_MAX, "{STRANGERS} strangers cost {grown} bytes");
    let second = connecting(2, 3, &key, address, PATIENCE).expect("strangers keep nobody out");
    let tcp = opening.join().expect("no panic").expect("all have come");
    let late = TcpStream::connect(address);
    assert!(late.is_err(), "nobody listens once all are there");
    drop(half_open);
    assert_work(vec![tcp, first, second]);
    Outcome::Passed
}

/// All checks of this file.
pub(crate) fn checks() -> Vec<Check> {
    family(
        "tcp-startup",
        &[
            ("a_wrong_key_is_refused", a_wrong_key_is_refused),
            ("a_stranger_who_listens_is_refused", a_stranger_who_listens_is_refused),
            ("a_replayed_connection_is_refused", a_replayed_connection_is_refused),
            ("strangers_do_not_disturb", strangers_do_not_disturb),
        ],
    )
}

/// A node that is told addresses by the check and tells its own to it.
pub(crate) struct Scripted {
    pub(crate) membership: Membership,
    /// The addresses that nodes with lower numbers published, by node.
    pub(crate) addresses: Vec<SocketAddr>,
    /// Hears what this node publishes.
    pub(crate) published: Option<Sender<SocketAddr>>,
}

impl Bootstrap for Scripted {
    fn membership(&self) -> &Membership {
        &self.membership
    }

    fn membership_mut(&mut self) -> &mut Membership {
        &mut self.membership
    }

    fn all_gather(&mut self, value: Vec<u8>) -> Result<Vec<Vec<u8>>, LrtsError> {
        if let Some(published) = self.published.take() {
            let address = std::str::from_utf8(&value).ok().and_then(|text| text.parse().ok());
            published
                .send(address.expect("a listening node publishes its address"))
                .expect("the check hears it");
        }
        let mut all: Vec<Vec<u8>> = self.addresses.iter().map(|address| address.to_string().into()).collect();
        all.resize(self.nodes() as usize, Vec::new());
        all[self.node().index()] = value;
        Ok(all)
    }
}
