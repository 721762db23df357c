//! Audit of a simulated job: what has to be even between its nodes once nothing is on its way, whatever the program was.
//!
//! 1. What a node has spent of its credit at another one is what the other one holds for it, and that is what the other one's PEs owe:
//!    messages that were run, and were not worth a frame yet.
//! 2. No get or put is under way or waits for room, and no registration waits for its end.
//! 3. No memory is kept for messages that wait for credit or are fetched, none of which waits for its turn.
//! 4. Nobody touches registered memory.
//! 5. No call waits for buffers, and no message for what is to be created.
//! 6. Each message that a node has sent to another one has come there.
//! 7. No home of an element waits for something of it that is under way, and no section is kept that was dissolved.

use crate::model::ids::NodeId;
use crate::node::Node;
use crate::node::ledger::Book;
use crate::pe::Pe;
use crate::services::section;
use std::rc::Rc;
use std::sync::Arc;

/// What is not even, in words.
pub(super) fn audit<'a>(
    nodes: &[&Arc<Node>],
    pes: impl Iterator<Item = &'a Rc<Pe>> + Clone,
    book: &Book,
) -> Vec<String> {
    let mut faults = book.untaken();
    for pe in pes.clone() {
        let (early, begun) = (pe.early.borrow().waiting().count(), pe.begun_calls.count());
        if early + begun > 0 {
            faults.push(format!(
                "on {} {early} messages wait for what is to be created and {begun} calls for buffers",
                pe.id
            ));
        }
    }
    pes.clone().for_each(|pe| faults.extend(kept_at_homes(pe)));
    for node in nodes {
        let own = node.id;
        faults.extend(node.transfers.unfinished().map(|what| format!("{own} has {what}")));
        faults.extend(node.allowance.kept_in_passing().map(|what| format!("{own} keeps {what}")));
        let (waiting, claimed) = (node.large_messages.waiting(), node.network.regions().claimed());
        if waiting + claimed > 0 {
            faults.push(format!("{own} has {waiting} long messages to fetch, and {claimed} claimed regions"));
        }
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

/// What a PE still keeps as a home of elements and of members of sections, in words.
fn kept_at_homes(pe: &Pe) -> Vec<String> {
    let places = pe.places.borrow();
    let homes = places.collections().filter_map(|local| Some((&local.info, local.home.as_ref()?)));
    let elements = homes.flat_map(|(info, home)| {
        let name = info.chare.name;
        home.unsettled().map(move |(index, what)| format!("{} waits for {what}: {name}, {index:?}", pe.id))
    });
    let sections = section::unforgotten(pe).into_iter();
    elements
        .chain(sections.map(|section| format!("{} keeps {section}, which was dissolved", pe.id)))
        .collect()
}
