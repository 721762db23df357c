//! Tests of start-up with neighbours that are late, gone, or not what they should be.

use super::host_peer::{Fate, RING_CONTROL_BYTES, RING_DATA_BYTES_MAX, RING_DATA_BYTES_MIN};
use super::link::{Introduction, Link, Message, Received};
use super::testing::{host_peers_of_job, mapped_bytes};
use super::*;
use crate::bootstrap::{Bootstrap, JobKey, Membership};
use crate::error::LrtsError;
use crate::ids::NodeId;
use crate::lrts::Entering;
use crate::mapping::{HUGE_PAGE_BYTES, Mapping};
use crate::memory::Share;
use crate::region::Regions;
use crate::region::board::Board;
use rustix::event::EventfdFlags;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType};
use std::sync::Arc;
use std::time::Duration;

const PEER: NodeId = NodeId(1);

/// Node 0 of a job of two, whose neighbour the test plays.
struct Played(Membership);

impl Played {
    fn by(socket: OwnedFd) -> Self {
        Self(Membership::new(NodeId(0), 2, JobKey::random(), vec![(PEER, socket)]))
    }
}

impl Bootstrap for Played {
    fn membership(&self) -> &Membership {
        &self.0
    }

    fn membership_mut(&mut self) -> &mut Membership {
        &mut self.0
    }

    fn all_gather(&mut self, value: Vec<u8>) -> Result<Vec<Vec<u8>>, LrtsError> {
        Ok(vec![value; 2])
    }
}

/// Opens node 0 after `play` has done the neighbour's part.
fn open_with(play: impl FnOnce(&Link), patience: Duration) -> (Link, Result<Arc<HostPeers>, LrtsError>) {
    let (here, there) = rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )
    .expect("sockets");
    let neighbour = Link::new(NodeId(0), there);
    play(&neighbour);
    let mut bootstrap = Played::by(here);
    let regions = Arc::new(Regions::new(NodeId(0)).expect("memory"));
    let opened = HostPeers::open(&mut bootstrap, regions, patience);
    (neighbour, opened)
}

/// The packet that a correct neighbour sends.
struct Hello {
    introduction: Introduction,
    board: OwnedFd,
    ring: OwnedFd,
    doorbell: OwnedFd,
}

impl Hello {
    fn good() -> Self {
        let ring_bytes = RING_CONTROL_BYTES + RING_DATA_BYTES_MIN;
        let board = Board::create().expect("memory");
        let (_, ring) = Mapping::create("test-ring", ring_bytes).expect("memory");
        Self {
            introduction: Introduction {
                node: PEER,
                pid: 1,
                probe_address: 0,
                pattern: [0; 2],
                scratch_address: 0,
                ring_bytes: ring_bytes as u64,
            },
            board: board.descriptor().expect("its own").try_clone_to_owned().expect("a descriptor"),
            ring,
            doorbell: rustix::event::eventfd(0, EventfdFlags::NONBLOCK).expect("a descriptor"),
        }
    }

    fn say(&self, link: &Link) {
        link.introduce(self.introduction, [self.board.as_fd(), self.ring.as_fd(), self.doorbell.as_fd()])
            .expect("room");
    }
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_good_hello_is_enough() {
    let (_neighbour, opened) = open_with(|link| Hello::good().say(link), LONG);
    assert_eq!(opened.expect("opened").nodes().collect::<Vec<_>>(), [PEER]);
}

#[test]
fn a_silent_neighbour_is_named() {
    let (_neighbour, opened) = open_with(|_| {}, Duration::from_millis(30));
    let error = opened.expect_err("nobody answers");
    assert!(matches!(error, LrtsError::Connect { peer: PEER, .. }));
    assert!(error.to_string().starts_with("cannot connect to node 1 over shm: no hello within"), "{error}");
}

#[test]
fn a_neighbour_that_ends_is_lost() {
    let (here, there) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .expect("sockets");
    drop(there);
    let mut bootstrap = Played::by(here);
    let regions = Arc::new(Regions::new(NodeId(0)).expect("memory"));
    let error = HostPeers::open(&mut bootstrap, regions, LONG).expect_err("it is gone");
    assert!(matches!(error, LrtsError::PeerLost { peer: PEER, .. }));
}

#[test]
fn every_wrong_hello_is_a_protocol_error() {
    let memfd = || rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC).expect("memory");
    type Spoil = fn(&mut Hello);
    let wrongs: [(&str, Spoil); 8] = [
        ("it says it is node 2", |hello| hello.introduction.node = NodeId(2)),
        ("process number 0", |hello| hello.introduction.pid = 0),
        ("process number -1", |hello| hello.introduction.pid = -1),
        ("a ring of 0 bytes", |hello| hello.introduction.ring_bytes = 0),
        ("a ring of 135169 bytes", |hello| hello.introduction.ring_bytes += 1),
        ("a ring of 18446744073709551615 bytes", |hello| hello.introduction.ring_bytes = u64::MAX),
        ("its ring: shared memory of 135168 bytes", |hello| {
            hello.introduction.ring_bytes = (RING_CONTROL_BYTES + RING_DATA_BYTES_MAX) as u64;
        }),
        ("its doorbell blocks", |hello| {
            hello.doorbell = rustix::event::eventfd(0, EventfdFlags::empty()).expect("a descriptor");
        }),
    ];
    let expect = |hello: Hello, expected: &str| {
        let (_neighbour, opened) = open_with(|link| hello.say(link), LONG);
        let error = opened.expect_err("refused");
        assert!(matches!(error, LrtsError::Protocol { peer: PEER, what: "hello", .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}: {expected}");
    };
    for (expected, spoil) in wrongs {
        let mut hello = Hello::good();
        spoil(&mut hello);
        expect(hello, expected);
    }
    // Memory that its sender could take away again under our feet.
    expect(Hello { board: memfd(), ..Hello::good() }, "its board: ");
    expect(Hello { ring: memfd(), ..Hello::good() }, "its ring: ");
}

#[test]
fn foreign_bytes_are_a_protocol_error() {
    let junk = |link: &Link| {
        rustix::net::send(link.socket(), b"GET / HTTP/1.1", SendFlags::empty()).expect("room");
    };
    let (_neighbour, opened) = open_with(junk, LONG);
    assert!(matches!(opened.err(), Some(LrtsError::Protocol { peer: PEER, .. })));
    let announcement = |link: &Link| {
        let memory = rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC).expect("memory");
        link.announce(0, 1, memory.as_fd()).expect("room");
    };
    let (_neighbour, opened) = open_with(announcement, LONG);
    assert!(matches!(opened.err(), Some(LrtsError::Protocol { peer: PEER, .. })));
}

#[test]
fn wrong_announcements_condemn_their_sender() {
    let long = HUGE_PAGE_BYTES as u64;
    let announcements: [(u32, u64); 6] =
        [(1, long), (u32::MAX, long), (0, 2 * long), (0, u64::MAX), (0, 0), (0, 4096)];
    for (row, len) in announcements {
        let (neighbour, opened) = open_with(|link| Hello::good().say(link), LONG);
        let opened = opened.expect("opened");
        let (_, memory) = Mapping::create("test-arena", HUGE_PAGE_BYTES).expect("memory");
        neighbour.announce(row, len, memory.as_fd()).expect("room");
        opened.read_links();
        let fate = opened.neighbours()[0].fate();
        assert!(matches!(fate, Some(Fate::Broken { what: "arena", .. })), "{row}, {len}: {fate:?}");
    }
    for seals in [SealFlags::empty(), SealFlags::SHRINK | SealFlags::WRITE] {
        let (neighbour, opened) = open_with(|link| Hello::good().say(link), LONG);
        let opened = opened.expect("opened");
        let memory = rustix::fs::memfd_create("sealed", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING);
        let memory = memory.expect("memory");
        rustix::fs::ftruncate(&memory, long).expect("it may be long");
        rustix::fs::fcntl_add_seals(&memory, seals).expect("it may be sealed");
        neighbour.announce(0, long, memory.as_fd()).expect("room");
        opened.read_links();
        let fate = opened.neighbours()[0].fate();
        assert!(matches!(fate, Some(Fate::Broken { what: "arena", .. })), "{seals:?}: {fate:?}");
    }
    let (neighbour, opened) = open_with(|link| Hello::good().say(link), LONG);
    let opened = opened.expect("opened");
    Hello::good().say(&neighbour);
    opened.read_links();
    assert!(matches!(opened.neighbours()[0].fate(), Some(Fate::Broken { what: "hello", .. })));
}

#[test]
fn an_arena_takes_page_tables_where_it_is_used() {
    if !Mapping::can_be_backed_again() {
        println!("skipped: pages of a neighbour's arena: this kernel enters them one by one");
        return;
    }
    let (neighbour, opened) = open_with(|link| Hello::good().say(link), LONG);
    let opened = opened.expect("opened");
    let len = 4 * HUGE_PAGE_BYTES;
    let (_, memory) = Mapping::create("test-arena", len).expect("memory");
    neighbour.announce(0, len as u64, memory.as_fd()).expect("room");
    let used = |offset, len, entering| opened.neighbours()[0].locate(Share { row: 0, offset }, len, entering);
    let locate = |offset, len| used(offset, len, Entering::AtOnce);
    let first = locate(0, 0).expect("it is inside");
    assert_eq!(mapped_bytes(first, "Rss"), 0, "nobody has read it");
    let last = locate(len as u64 - 1, 1).expect("it is inside");
    assert_eq!(last.addr() - first.addr(), len - 1);
    assert_eq!(mapped_bytes(first, "Rss"), HUGE_PAGE_BYTES, "the part that is used");
    assert_eq!(used(0, len, Entering::AsUsed), Ok(first));
    assert_eq!(mapped_bytes(first, "Rss"), HUGE_PAGE_BYTES, "who uses little of all enters that");
    assert!(locate(0, len).is_ok());
    assert_eq!(mapped_bytes(first, "Rss"), len);
    for (start, len) in [(1, len), (len as u64, 1), (u64::MAX, 1), (1, usize::MAX)] {
        assert!(locate(start, len).is_err(), "{len} bytes at {start}");
    }
    let hollow = rustix::fs::memfd_create("hollow", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING);
    let hollow = hollow.expect("memory");
    rustix::fs::ftruncate(&hollow, len as u64).expect("it may be long");
    rustix::fs::fcntl_add_seals(&hollow, SealFlags::SHRINK).expect("it may be sealed");
    neighbour.announce(0, len as u64, hollow.as_fd()).expect("room");
    let hollow = locate(len as u64, 1).expect("it stands behind the first");
    assert_eq!(hollow.addr() - first.addr(), len);
    assert_eq!(mapped_bytes(hollow, "Rss"), 0, "holes are not filled around what is used");
}

#[test]
fn an_arena_is_heard_of_and_mapped() {
    let (neighbour, opened) = open_with(|link| Hello::good().say(link), LONG);
    let opened = opened.expect("opened");
    let whole =
        || opened.neighbours()[0].locate(Share { row: 0, offset: 0 }, HUGE_PAGE_BYTES, Entering::AtOnce);
    assert!(whole().is_err());
    let (_, memory) = Mapping::create("test-arena", HUGE_PAGE_BYTES).expect("memory");
    neighbour.announce(0, HUGE_PAGE_BYTES as u64, memory.as_fd()).expect("room");
    assert!(whole().is_ok());
    let piece = opened.arenas().allocate(10).expect("memory");
    assert_eq!(piece.share(), Some(Share { row: 0, offset: 0 }));
    let Received::Message(Message::Hello { .. }) = neighbour.receive() else { panic!("no hello") };
    assert!(matches!(neighbour.receive(), Received::Message(Message::Arena { row: 0, .. })));
}

#[test]
fn a_job_of_many_nodes_meets() {
    let nodes = host_peers_of_job(20);
    assert!(nodes.iter().all(|node| node.nodes().count() == 19));
}
