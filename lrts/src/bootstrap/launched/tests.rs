//! Tests of a launched node against the other end of its socket, message by message.

#![expect(clippy::disallowed_methods, reason = "a launcher is silent in real time")]

use super::*;
use rustix::io::FdFlags;
use rustix::net::{AddressFamily, SocketFlags, socketpair};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::sync::mpsc;

fn pair() -> (OwnedFd, OwnedFd) {
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap()
}

fn welcome(nodes: u32, neighbours: u32) -> ToNode {
    ToNode::Welcome(Welcome { node: NodeId(1), nodes, key: [5; 32], neighbours, patience_ms: 30_000 })
}

fn joined(launcher: &OwnedFd, node: OwnedFd, nodes: u32) -> Launched {
    control::send(launcher, &welcome(nodes, 0), None).unwrap();
    let launched = Launched::join(node).unwrap();
    let (hello, _) = control::receive::<FromNode>(launcher).unwrap().unwrap();
    assert_eq!(hello, FromNode::Hello { protocol: PROTOCOL });
    launched
}

#[test]
fn a_node_learns_its_place_and_gets_its_neighbours() {
    let (launcher, node) = pair();
    let (passed, _kept) = pair();
    control::send(&launcher, &welcome(2, 1), None).unwrap();
    control::send(&launcher, &ToNode::Neighbour(NodeId(0)), Some(&passed)).unwrap();
    let mut launched = Launched::join(node).unwrap();
    assert_eq!((launched.node(), launched.nodes(), launched.key().0), (NodeId(1), 2, [5; 32]));
    let neighbours = launched.take_neighbours();
    assert_eq!(neighbours.iter().map(|(peer, _)| peer.0).collect::<Vec<_>>(), [0]);
    let flags = rustix::io::fcntl_getfd(&neighbours[0].1).unwrap();
    assert!(flags.contains(FdFlags::CLOEXEC));
    assert!(launched.take_neighbours().is_empty());
}

#[test]
fn a_neighbour_without_a_socket_is_refused() {
    let (launcher, node) = pair();
    control::send(&launcher, &welcome(2, 1), None).unwrap();
    control::send(&launcher, &ToNode::Neighbour(NodeId(0)), None).unwrap();
    assert!(Launched::join(node).unwrap_err().to_string().contains("neighbour out of turn"));
}

#[test]
fn values_arrive_in_pieces_and_in_order() {
    let (launcher, node) = pair();
    let mut launched = joined(&launcher, node, 20);
    let values: Vec<Vec<u8>> = (0..20).map(|value| vec![value]).collect();
    for (first, values) in [(0, &values[..16]), (16, &values[16..])] {
        control::send(&launcher, &ToNode::Gathered { round: 0, first, values: values.to_vec() }, None)
            .unwrap();
    }
    assert_eq!(launched.all_gather(vec![1]).unwrap(), values);
    let (sent, _) = control::receive::<FromNode>(&launcher).unwrap().unwrap();
    assert_eq!(sent, FromNode::Gather { round: 0, value: vec![1] });
}

#[test]
fn too_many_values_or_another_rounds_are_refused() {
    for (round, first, count) in [(0, 0, 3), (1, 0, 2), (0, 1, 1), (0, 0, 0)] {
        let (launcher, node) = pair();
        let mut launched = joined(&launcher, node, 2);
        let values = vec![vec![0]; count];
        control::send(&launcher, &ToNode::Gathered { round, first, values }, None).unwrap();
        let error = launched.all_gather(vec![]).unwrap_err().to_string();
        assert!(error.contains("values out of turn"), "{error}");
    }
}

#[test]
fn an_abort_or_a_dead_launcher_ends_the_exchange() {
    let (launcher, node) = pair();
    let mut launched = joined(&launcher, node, 2);
    control::send(&launcher, &ToNode::Abort { message: "node 0 is gone".into() }, None).unwrap();
    assert!(launched.all_gather(vec![]).unwrap_err().to_string().contains("node 0 is gone"));
    drop(launcher);
    assert!(launched.all_gather(vec![]).unwrap_err().to_string().contains("launcher"));
}

#[test]
fn a_silent_launcher_is_an_error_after_the_time_given() {
    let (launcher, node) = pair();
    let mut launched = joined(&launcher, node, 2);
    let past = Instant::now();
    let error = receive(&launched.socket, Some(past)).unwrap_err().to_string();
    assert!(error.contains("does not answer"), "{error}");
    drop(launcher);
    assert!(launched.all_gather(vec![]).is_err());
}

#[test]
fn reports_arrive_and_an_abort_reaches_the_watch() {
    let (launcher, node) = pair();
    let control = joined(&launcher, node, 2).into_control();
    let (said, hears) = mpsc::channel();
    control.watch(move |end| said.send(end).unwrap()).unwrap();
    control.report_lost(NodeId(0), "silence");
    control.report_failure("x".repeat(100_000));
    control.finished(3);
    let next = || control::receive::<FromNode>(&launcher).unwrap().unwrap().0;
    assert_eq!(next(), FromNode::Lost { peer: NodeId(0), message: "silence".into() });
    assert_eq!(next(), FromNode::Failed { message: "x".repeat(control::TEXT_BYTES_MAX) });
    assert_eq!(next(), FromNode::Finished { code: 3 });
    control::send(&launcher, &ToNode::Abort { message: "over".into() }, None).unwrap();
    let end = hears.recv_timeout(Duration::from_secs(20));
    assert_eq!(end, Ok(Ordered::Aborted("over".to_owned())));
}

#[test]
fn a_dead_launcher_reaches_the_watch_and_a_dropped_control_does_not() {
    let (launcher, node) = pair();
    let control = joined(&launcher, node, 2).into_control();
    let (said, hears) = mpsc::channel();
    control.watch(move |end| said.send(end).unwrap()).unwrap();
    drop(launcher);
    let end = hears.recv_timeout(Duration::from_secs(20));
    assert!(matches!(end, Ok(Ordered::Abandoned(cause)) if cause.contains("gone")));

    let (launcher, node) = pair();
    let control = joined(&launcher, node, 2).into_control();
    let (said, hears) = mpsc::channel::<Ordered>();
    control.watch(move |end| said.send(end).unwrap()).unwrap();
    drop(control);
    let ended = hears.recv_timeout(Duration::from_secs(20));
    assert_eq!(ended, Err(mpsc::RecvTimeoutError::Disconnected));
}

#[test]
fn only_the_launchers_own_socket_is_taken_and_only_once() {
    let (socket, _other) = pair();
    let inode = rustix::fs::fstat(&socket).unwrap().st_ino;
    let number = socket.as_raw_fd();
    assert!(take_socket(number, inode).is_none(), "close-on-exec says that it is somebody's already");
    rustix::io::fcntl_setfd(&socket, FdFlags::empty()).unwrap();
    assert!(take_socket(number, inode + 1).is_none());
    assert!(take_socket(-1, inode).is_none());
    assert!(take_socket(1, inode).is_none());
    assert!(take_socket(1_000_000, inode).is_none());
    assert_eq!(socket.into_raw_fd(), number);
    let taken = take_socket(number, inode).unwrap();
    assert!(take_socket(number, inode).is_none());
    drop(taken);
    assert!(take_socket(number, inode).is_none());
}
