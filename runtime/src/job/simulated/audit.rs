//! Audit of a simulated job: what has to be even between its nodes once nothing is on its way, whatever the program was.
//!
//! 1. What a node has spent of its credit at another one is what the other one holds for it, and that is what the other one's PEs owe:
//!    messages that were run, and were not worth a frame yet.
//! 2. No get or put is under way or waits for room, and no registration waits for its end.
//! 3. No memory is kept for messages that wait for credit or are fetched.

use crate::model::ids::NodeId;
use crate::node::Node;
use crate::pe::Pe;
use std::rc::Rc;
use std::sync::Arc;

/// What is not even, in words.
pub(super) fn audit<'a>(nodes: &[&Arc<Node>], pes: impl Iterator<Item = &'a Rc<Pe>> + Clone) -> Vec<String> {
    let mut faults = Vec::new();
    for node in nodes {
        let own = node.id;
        faults.extend(node.transfers.unfinished().map(|what| format!("{own} has {what}")));
        faults.extend(node.allowance.kept_in_passing().map(|what| format!("{own} keeps {what}")));
        if node.deregistrations.are_waiting() {
            faults.push(format!("{own} waits for the end of a registration"));
        }
        for peer in (0..nodes.len() as u32).map(NodeId).filter(|peer| *peer != own) {
            let (spent, _) = node.departures.account(peer).balance();
            let (_, held) = nodes[peer.index()].departures.account(own).balance();
            let of_peer = pes.clone().filter(|pe| pe.node.id == peer);
            let owed: u64 = of_peer.map(|pe| pe.owed.borrow().to(own)).sum();
            if spent != held || held != owed {
                faults.push(format!(
                    "{own} has spent {spent} bytes of credit at {peer}, which holds {held} and owes {owed}"
                ));
            }
        }
    }
    faults
}
