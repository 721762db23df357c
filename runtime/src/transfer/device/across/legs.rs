//! Legs between nodes, as who chooses the length of chunks takes them: by the kind of the path, until a chunk has come back.

use crate::node::Node;
use chare_device::Leg;
use chare_lrts::NodeId;
use std::time::Duration;

/// A copy by the kernel: its start was measured by the bench `crossover`, its speed is an estimate.
const COPIED: Leg = Leg { start: Duration::from_micros(3), bytes_per_second: 5e9 };

/// A fetch by the network. An estimate.
const FETCHED: Leg = Leg { start: Duration::from_micros(10), bytes_per_second: 10e9 };

/// Messages of the network. An estimate.
const CARRIED: Leg = Leg { start: Duration::from_micros(50), bytes_per_second: 1e9 };

/// A copy on this host, by a PE. An estimate.
pub(super) const HERE: Leg = Leg { start: Duration::ZERO, bytes_per_second: 8e9 };

/// The leg of what the network reads from a device of another node, or the other way round.
pub(super) fn direct(node: &Node, peer: NodeId) -> Leg {
    let bytes_per_second = node.devices.direct_legs.bytes_per_second(peer, FETCHED.bytes_per_second);
    Leg { bytes_per_second, ..FETCHED }
}

/// Notes how long the network took for such a read.
pub(super) fn note_direct(node: &Node, peer: NodeId, bytes: u64, took: Duration) {
    node.devices.direct_legs.note(peer, bytes, moving(took));
}

/// The part of a read's time that grows with its bytes: without the start, which is counted for each, and is an estimate, which may be too
/// long.
fn moving(took: Duration) -> Duration {
    took.saturating_sub(FETCHED.start).max(took / 2)
}

/// The leg to or from another node.
pub(super) fn between(node: &Node, peer: NodeId) -> Leg {
    let estimate = if node.network.copies(peer) {
        COPIED
    } else if node.network.is_one_sided(peer) {
        FETCHED
    } else {
        CARRIED
    };
    let bytes_per_second = node.devices.legs.bytes_per_second(peer, estimate.bytes_per_second);
    Leg { bytes_per_second, ..estimate }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_of_a_read_says_nothing_of_its_speed() {
        let start = FETCHED.start;
        assert_eq!(moving(start * 5), start * 4);
        assert_eq!(moving(start * 2), start);
        assert_eq!(moving(start), start / 2, "the estimate is too long");
    }
}
