//! Tests of tcp: silence that is no loss, and those who are on the path.

#![expect(clippy::disallowed_methods, reason = "sockets are real")]

mod in_path;
mod relay;

use super::keepalive::SILENCE_MAX;
use super::*;
use crate::bootstrap::local::Local;
use crate::frame::Channel;
use crate::lrts::Completion;
use std::time::Instant;

const PATIENCE: Duration = Duration::from_secs(30);

/// Two nodes that meet as `wrap` lets them, each with its options.
fn meet<B: Bootstrap>(wrap: impl Fn(Local) -> B, options: [TcpOptions; 2]) -> [Result<Tcp, LrtsError>; 2] {
    let job = Local::job(2).expect("the kernel grants sockets");
    std::thread::scope(|scope| {
        let open = |(local, options): (Local, TcpOptions)| {
            let other = NodeId(1 - local.node().0);
            let mut bootstrap = wrap(local);
            scope.spawn(move || Tcp::open(&mut bootstrap, &[other], &options, PATIENCE))
        };
        let nodes: Vec<_> = job.into_iter().zip(options).map(open).collect();
        let mut nodes = nodes.into_iter().map(|node| node.join().expect("no panic"));
        [(); 2].map(|()| nodes.next().expect("there are two"))
    })
}

fn pair(options: &TcpOptions) -> [Tcp; 2] {
    meet(|local| local, [options.clone(), options.clone()]).map(|node| node.expect("they meet"))
}

fn protected(protection: Protection) -> TcpOptions {
    TcpOptions { protection, nolocal: true, fault: None }
}

#[derive(Default)]
struct Tally {
    frames: u64,
    lost: Option<LrtsError>,
}

impl Sink for Tally {
    fn frame(&mut self, _: NodeId, _: Channel, _: &[u8]) {
        self.frames += 1;
    }
    fn completion(&mut self, _: Completion) {}
    fn peer_closed(&mut self, _: NodeId) {}
    fn peer_lost(&mut self, error: LrtsError) {
        self.lost = Some(error);
    }
}

#[test]
fn a_node_that_reads_nothing_for_longer_than_a_host_may_be_silent_is_not_lost() {
    let [sender, receiver] = pair(&protected(Protection::Tags));
    let frame = vec![7; FRAME_BYTES_MAX];
    let (mut sent, mut heard) = (0, [Tally::default(), Tally::default()]);
    let until = Instant::now() + SILENCE_MAX + Duration::from_secs(2);
    while Instant::now() < until {
        sent += u64::from(sender.send(NodeId(1), Frame::runtime(&frame)).is_ok());
        sender.progress(&mut heard[0]);
        // What is tested is what happens in a stretch of time.
        std::thread::sleep(Duration::from_millis(10));
    }
    sender.shutdown();
    receiver.shutdown();
    while !(sender.is_closed() && receiver.is_closed()) {
        sender.progress(&mut heard[0]);
        receiver.progress(&mut heard[1]);
    }
    assert_eq!((heard[0].frames, heard[1].frames), (0, sent));
    assert!(heard.iter().all(|tally| tally.lost.is_none()));
}

#[test]
fn nodes_of_one_host_need_no_protection() {
    for (options, words) in [
        (TcpOptions::default(), ""),
        (TcpOptions { protection: Protection::Seals, ..TcpOptions::default() }, ""),
        (protected(Protection::Tags), " (authenticated)"),
        (protected(Protection::Seals), " (sealed)"),
        (protected(Protection::Clear), " (in clear)"),
    ] {
        let [one, two] = pair(&options);
        assert_eq!([one.protection(NodeId(1)), two.protection(NodeId(0))], [words; 2], "{options:?}");
    }
}

#[test]
fn nodes_with_different_options_do_not_meet() {
    let options = [protected(Protection::Tags), protected(Protection::Clear)];
    let [one, two] = meet(|local| local, options).map(|node| match node {
        Ok(_) => panic!("they meet"),
        Err(error) => error.to_string(),
    });
    assert!(one.contains("node 1") && one.contains("it was started with `+clear`"), "{one}");
    assert!(two.contains("node 0") && two.contains("this node was started with `+clear`"), "{two}");
}
