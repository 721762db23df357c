//! Jobs of neighbours in one process, for the tests of this crate.

#![expect(clippy::disallowed_methods, reason = "each node is a thread of the machine's")]

use crate::bootstrap::local::Local;
use crate::error::LrtsError;
use crate::frame::Channel;
use crate::host::HostPeers;
use crate::ids::NodeId;
use crate::lrts::{Completion, Lrts, Posted, Refused, Sink};
use crate::region::Regions;
use rustix::event::{PollFd, PollFlags, Timespec};
use std::sync::Arc;
use std::time::Duration;

/// The host peers of a job of `nodes` nodes, by node.
pub(crate) fn host_peers_of_job(nodes: u32) -> Vec<Arc<HostPeers>> {
    let job = Local::job(nodes).expect("sockets");
    let threads: Vec<_> = job
        .into_iter()
        .enumerate()
        .map(|(node, mut bootstrap)| {
            std::thread::spawn(move || {
                let regions = Arc::new(Regions::new(NodeId(node as u32)).expect("memory"));
                HostPeers::open(&mut bootstrap, regions, Duration::from_secs(60)).expect("a host_peers")
            })
        })
        .collect();
    threads.into_iter().map(|thread| thread.join().expect("opened")).collect()
}

/// A sink that remembers.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) frames: Vec<(NodeId, Channel, Vec<u8>)>,
    pub(crate) closed: Vec<NodeId>,
    pub(crate) lost: Vec<LrtsError>,
}

impl Sink for Heard {
    fn frame(&mut self, source: NodeId, channel: Channel, bytes: &[u8]) {
        self.frames.push((source, channel, bytes.to_vec()));
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

/// Waits until a backend's descriptor is readable; fails loudly rather than hang.
pub(crate) fn sleep_on(backend: &dyn Lrts) {
    let descriptor = backend.event_fd().expect("something to wait for");
    let patience = Timespec { tv_sec: 60, tv_nsec: 0 };
    let mut waiting = [PollFd::new(&descriptor, PollFlags::IN)];
    assert_eq!(rustix::event::poll(&mut waiting, Some(&patience)), Ok(1), "nobody woke the sleeper");
}

/// Makes progress until `done`, sleeping while there is nothing to do.
pub(crate) fn progress_until(backend: &dyn Lrts, heard: &mut Heard, mut done: impl FnMut(&Heard) -> bool) {
    while !done(heard) {
        if !backend.progress(heard) && backend.arm() {
            sleep_on(backend);
        }
    }
}

/// The completion of an operation that is over at once.
pub(crate) fn over<T: std::fmt::Debug>(posted: Result<Posted, Refused<T>>) -> Completion {
    match posted {
        Ok(Posted::Done(completion)) => completion,
        other => panic!("not over: {other:?}"),
    }
}

/// Bytes that the kernel tells of this process's mapping around an address, in the line of `/proc/self/smaps` that begins with `what`.
pub(crate) fn mapped_bytes(address: *const u8, what: &str) -> usize {
    let smaps = std::fs::read_to_string("/proc/self/smaps").expect("/proc is mounted");
    let is_around = |line: &str| {
        let range = line.split(' ').next().and_then(|range| range.split_once('-'));
        let number = |text| usize::from_str_radix(text, 16).ok();
        let range = range.and_then(|(start, end)| Some(number(start)?..number(end)?));
        range.is_some_and(|range| range.contains(&address.addr()))
    };
    let mut lines = smaps.lines().skip_while(|line| !is_around(line));
    let line = lines.find_map(|line| line.strip_prefix(what)).expect("it is mapped");
    let kib: usize = line.trim_start_matches(':').trim_end_matches("kB").trim().parse().expect("a number");
    kib << 10
}
