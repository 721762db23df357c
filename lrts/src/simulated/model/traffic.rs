//! Traffic of a simulated network that a model describes: when each frame is on its way, and what that takes of the time of those who send
//! and receive.
//!
//! 1. Sending and receiving spend the time of the PE that does it: its clock goes on, within its step.
//! 2. A PE's frame begins to leave when its node's sending side is free, and the PE waits until then; so with receiving. The rules are those
//!    of [`LogGops`](super::LogGops), with a PE for a processor, and one interface for each node.
//! 3. PEs of a node take their steps one after another, though these overlap in time: who sends later may do so earlier by the clock, and
//!    gets the earliest time that the interface has free.

use super::Network;
use crate::ids::NodeId;
use std::collections::VecDeque;

/// Times in which a side is in use that are remembered. What is earlier counts as in use all the time: only a step that began long before
/// others that are over could ask for it.
const REMEMBERED: usize = 32;

/// One side of a node's interface.
#[derive(Default)]
struct Side {
    /// From when until when it is in use, in their order.
    used: VecDeque<(u64, u64)>,
    /// Since when that is remembered.
    since: u64,
}

impl Side {
    /// Takes the first time of this length that it has free from `earliest` on; returns when that begins.
    fn take(&mut self, earliest: u64, length: u64) -> u64 {
        let earliest = earliest.max(self.since);
        let mut place = self.used.partition_point(|(_, until)| *until <= earliest);
        let mut begin = earliest;
        while let Some((from, until)) = self.used.get(place).filter(|(from, _)| begin + length > *from) {
            debug_assert!(from < until);
            begin = begin.max(*until);
            place += 1;
        }
        if length > 0 {
            self.used.insert(place, (begin, begin + length));
            if self.used.len() > REMEMBERED
                && let Some((_, until)) = self.used.pop_front()
            {
                self.since = until;
            }
        }
        begin
    }
}

/// See the file's head.
pub(in crate::simulated) struct Traffic {
    network: Network,
    /// By node: its sending side and its receiving side.
    sides: Vec<(Side, Side)>,
}

/// When what a PE has begun is over for it, and when the first byte arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::simulated) struct Departure {
    pub(in crate::simulated) over: u64,
    pub(in crate::simulated) arrives: u64,
}

impl Traffic {
    pub(in crate::simulated) fn new(network: Network, nodes: u32) -> Self {
        Self { network, sides: (0..nodes).map(|_| Default::default()).collect() }
    }

    /// A PE of `source` begins to send a frame.
    pub(in crate::simulated) fn depart(
        &mut self,
        now: u64,
        (source, target): (NodeId, NodeId),
        bytes: usize,
    ) -> Departure {
        let model = &self.network.loggops;
        let kept = model.sending(bytes);
        let begins = self.sides[source.index()].0.take(now, kept.side_ns);
        let latency = self.network.latency_ns(source.0, target.0);
        Departure { over: begins + kept.processor_ns, arrives: begins + model.overhead_ns + latency }
    }

    /// A PE of `target` begins to receive a frame that is there; returns when it has.
    pub(in crate::simulated) fn receive(&mut self, now: u64, target: NodeId, bytes: usize) -> u64 {
        let kept = self.network.loggops.receiving(bytes);
        self.sides[target.index()].1.take(now, kept.side_ns) + kept.processor_ns
    }

    /// A PE has its node's interface move memory by itself; returns when that is asked for, and the PE may go on.
    pub(in crate::simulated) fn post(&self, now: u64) -> u64 {
        now + self.network.loggops.overhead_ns
    }

    /// An interface begins to send by itself, no earlier than now; returns when the first byte arrives.
    pub(in crate::simulated) fn carry(
        &mut self,
        now: u64,
        (source, target): (NodeId, NodeId),
        bytes: usize,
    ) -> u64 {
        let side_ns = self.network.loggops.sending(bytes).side_ns;
        let begins = self.sides[source.index()].0.take(now, side_ns);
        begins + self.network.latency_ns(source.0, target.0)
    }

    /// An interface takes what begins to arrive now by itself; returns when it has all.
    pub(in crate::simulated) fn take_in(&mut self, now: u64, target: NodeId, bytes: usize) -> u64 {
        let side_ns = self.network.loggops.receiving(bytes).side_ns;
        self.sides[target.index()].1.take(now, side_ns) + side_ns
    }

    /// When a goodbye arrives that leaves now: it costs nobody's time.
    pub(in crate::simulated) fn arrival_of_goodbye(&self, now: u64, source: NodeId, target: NodeId) -> u64 {
        now + self.network.latency_ns(source.0, target.0)
    }

    /// When the one arrives at the peers that are farthest.
    pub(in crate::simulated) fn arrival_of_farthest_goodbye(&self, now: u64) -> u64 {
        now + self.network.most_latency_ns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_is_in_use_once_at_a_time() {
        let mut side = Side::default();
        assert_eq!(side.take(100, 50), 100);
        assert_eq!(side.take(120, 10), 150, "behind");
        assert_eq!(side.take(0, 100), 0, "exactly before");
        assert_eq!(side.take(0, 1), 160, "no gap");
        assert_eq!(side.take(200, 10), 200);
        assert_eq!(side.take(155, 39), 161, "a gap that is just long enough");
        assert_eq!(side.take(155, 39), 210, "and is used now");
        assert_eq!(side.take(5, 0), 100, "what takes no time fits between two");
    }

    #[test]
    fn what_is_long_over_is_forgotten() {
        let mut side = Side::default();
        (0..1_000).for_each(|number| assert_eq!(side.take(number, 10), number * 10));
        assert_eq!(side.used.len(), REMEMBERED);
    }

    #[test]
    fn frames_depart_and_are_received_by_the_rules() {
        let network =
            "loggops:L=2500,o=1500,g=1000,G=6,O=2,hop=100,shape=torus:4x1x1".parse().expect("it is one");
        let mut traffic = Traffic::new(network, 4);
        let near = (NodeId(0), NodeId(1));
        assert_eq!(
            traffic.depart(10, near, 1_025),
            Departure { over: 10 + 1_500 + 2_048, arrives: 10 + 4_000 }
        );
        // The interface is busy for 1,000 + 6 * 1,024.
        let far = (NodeId(0), NodeId(2));
        assert_eq!(traffic.depart(3_558, far, 1), Departure { over: 7_154 + 1_500, arrives: 7_154 + 4_100 });
        assert_eq!(traffic.receive(4_010, NodeId(1), 1_025), 4_010 + 1_500 + 6_144);
        assert_eq!(traffic.receive(11_654, NodeId(1), 0), 11_654 + 1_500);
        assert_eq!(traffic.arrival_of_goodbye(5, NodeId(0), NodeId(2)), 2_605);
    }
}
