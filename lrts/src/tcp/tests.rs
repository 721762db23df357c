//! Tests of tcp: silence that is no loss.

use super::keepalive::SILENCE_MAX;
use super::*;
use crate::bootstrap::local::Local;
use crate::frame::Channel;
use crate::lrts::Completion;
use std::time::Instant;

const PATIENCE: Duration = Duration::from_secs(30);

fn pair() -> [Tcp; 2] {
    let job = Local::job(2).expect("the kernel grants sockets");
    std::thread::scope(|scope| {
        let open = |mut bootstrap: Local| {
            let other = NodeId(1 - bootstrap.node().0);
            scope.spawn(move || Tcp::open(&mut bootstrap, &[other], PATIENCE).expect("they meet"))
        };
        let nodes: Vec<_> = job.into_iter().map(open).collect();
        let mut nodes = nodes.into_iter().map(|node| node.join().expect("it opens"));
        [(); 2].map(|()| nodes.next().expect("there are two"))
    })
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
    let [sender, receiver] = pair();
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
