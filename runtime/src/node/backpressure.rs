//! A PE that has sent more than another node takes waits inside its entry, until that node has caught up. `outbox -> **holding**`
//!
//! 1. It looks after the network while it waits, and runs nothing: entries do not run inside each other.
//! 2. It waits while credit comes. When none has come for a while it may withhold twice as much and goes on: the other node
//!    may be in a long entry, or wait for this one. So no circle of waiting PEs stands still, and what is withheld grows with
//!    the time for which the other node is silent: by [`ROOM_PER_SECOND`], about.
//! 3. Before entries run anywhere nobody gives credit, and nobody waits.

use crate::model::ids::NodeId;
use crate::node::Node;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes more that may be withheld, for each second in which no credit came. A PE's usual entries are over before a window has grown
/// much; a circle of PEs that flood each other costs each message a third of a microsecond.
const ROOM_PER_SECOND: u64 = 400 << 20;

/// Between two looks at the network: about what the kernel takes to end a sleep anyway.
const PAUSE: Duration = Duration::from_micros(50);

/// Waits, if so much is withheld from the node that the sender should. Called by a PE that runs an entry.
#[inline]
pub(crate) fn hold_back(node: &Arc<Node>, peer: NodeId) {
    if let Some(room) = node.departures.overfull(peer) {
        wait_for_credit(node, peer, room);
    }
}

#[cold]
fn wait_for_credit(node: &Arc<Node>, peer: NodeId, room: u64) {
    if !node.is_open() {
        return;
    }
    let departures = &node.departures;
    let patience = Duration::from_nanos(room.saturating_mul(1_000_000_000) / ROOM_PER_SECOND);
    let (mut refunds, mut heard) = (departures.refunds(peer), Instant::now());
    // Half of it, so that not every message from now on has to wait.
    while departures.withheld_bytes(peer) > room / 2 && !node.has_ended() {
        if !node.look_at_network() {
            std::thread::sleep(PAUSE);
        }
        let now = departures.refunds(peer);
        if now != refunds {
            (refunds, heard) = (now, Instant::now());
        } else if heard.elapsed() >= patience {
            departures.enlarge(peer, room);
            return;
        }
    }
}
