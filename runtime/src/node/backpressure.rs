//! Back-pressure: a PE that has sent more than another node takes waits inside its entry, until that node has caught up. Where mailboxes
//! have a bound, it waits for another PE of its node in the same way.
//! `delivery/outbox -> **node/backpressure**`
//!
//! 1. The waiting PE polls the network and runs nothing: entries do not run inside each other.
//! 2. The PE waits as long as credit keeps coming. When no credit has come for a while, the node may withhold twice as many bytes, and
//!    the PE goes on: the other node may be in a long entry, or wait for this one. So a circle of waiting PEs never stands still, and the
//!    withheld bytes grow with the time for which the other node is silent, by about [`ROOM_PER_SECOND`]. Of PEs of one node it is known
//!    who waits for whom: there a PE waits for as long as the other is in its entry, and goes on at once in a circle.
//! 3. Before entries run anywhere, no node gives credit. `main`, which alone sends then, lets them run before it waits.
//! 4. Where the thread may not block, since it alone steps all PEs, no wait brings anything: the PE takes what has arrived and goes on, as
//!    after a silence by rule 2 and as in a circle.

#![expect(clippy::disallowed_methods, reason = "pauses the thread of a PE that waits")]

use crate::model::ids::NodeId;
use crate::node::Node;
use chare_lrts::{clock, may_block};
use std::sync::Arc;
use std::time::Duration;

/// Additional bytes that may be withheld, per second in which no credit came. A PE's usual entries are over before the room has grown
/// much; in a circle of PEs that flood each other, each message costs a third of a microsecond.
const ROOM_PER_SECOND: u64 = 400 << 20;

/// Pause between two polls of the network: about as long as the kernel takes to end a sleep anyway.
const PAUSE: Duration = Duration::from_micros(50);

/// Number of times that a PE which waits for another one of its node offers its core before it pauses: a PE that is not in a long entry
/// takes its messages within some microseconds.
const YIELDS: u32 = 64;

/// Waits for credit, if more bytes are withheld from `peer` than there is room for. Called by a PE that runs an entry.
#[inline]
pub(crate) fn hold_back(node: &Arc<Node>, peer: NodeId) {
    if let Some(room) = node.departures.overfull(peer) {
        wait_for_credit(node, peer, room);
    }
}

#[cold]
fn wait_for_credit(node: &Arc<Node>, peer: NodeId, room: u64) {
    node.open_all();
    let departures = &node.departures;
    chare_lrts::sometimes!("a PE that sends too much waited for credit");
    if !may_block() {
        while departures.withheld_bytes(peer) > room / 2 && node.look_at_network() {}
        departures.enlarge(peer, room);
        return;
    }
    let patience = Duration::from_nanos(room.saturating_mul(1_000_000_000) / ROOM_PER_SECOND);
    let (mut refunds, mut heard) = (departures.refunds(peer), clock::now());
    // Down to half of the room, so that not every message from now on has to wait.
    while departures.withheld_bytes(peer) > room / 2 && !node.has_ended() {
        look_or_pause(node);
        let now = departures.refunds(peer);
        if now != refunds {
            (refunds, heard) = (now, clock::now());
        } else if clock::since(heard) >= patience {
            departures.enlarge(peer, room);
            return;
        }
    }
}

/// Waits for room in the mailbox of a PE of this node, both by rank, while `is_crowded`. Returns whether there is room; if not, the two wait
/// for each other, or this thread may not wait, and the caller has to go on.
#[cold]
pub(crate) fn wait_for_room(
    node: &Arc<Node>,
    (source, target): (usize, usize),
    is_crowded: impl Fn() -> bool,
) -> bool {
    node.open_all();
    chare_lrts::sometimes!("a PE that sends too much waited for room in a mailbox");
    if !may_block() {
        return false;
    }
    node.held_back.begin(source, target);
    let (mut is_in_circle, mut yields) = (false, 0);
    while is_crowded() && !node.has_ended() {
        is_in_circle = node.held_back.is_in_circle(source);
        if is_in_circle {
            break;
        }
        if yields < YIELDS {
            yields += 1;
            std::thread::yield_now();
        } else {
            look_or_pause(node);
        }
    }
    node.held_back.end(source);
    !is_in_circle
}

fn look_or_pause(node: &Arc<Node>) {
    if !node.look_at_network() {
        std::thread::sleep(PAUSE);
    }
}
