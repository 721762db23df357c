//! The end of insertions into an array: announced on one PE, told to all homes.

use super::insertion::{options, sweep_if_closed, with_insertions};
use super::message::{ArrayFrame, ArrayMessage, ID};
use crate::delivery::outbox;
use crate::model::arguments::Arguments;
use crate::model::envelope::Envelope;
use crate::model::ids::{CollectionId, NodeId, PeId};
use crate::node::Node;
use crate::pe::Pe;
use crate::pe::early::Missing;
use crate::pe::queued::Outcome;
use crate::services::broadcast::tree::{self, TreeMessage};

/// Announces that nobody will ask for more members.
pub(crate) fn done_inserting(pe: &Pe, collection: CollectionId) {
    outbox::send(pe, pe.id, Envelope::system(options(), ArrayMessage::DoneInserting(collection)));
}

/// On the PE where `done_inserting` was called: tells the homes.
pub(super) fn announce_end(pe: &Pe, id: CollectionId) -> Outcome {
    if pe.places.borrow().collection(id).is_none() {
        return pe.keep(Missing::Collection(id), options(), ArrayMessage::DoneInserting(id).into());
    }
    let asked = with_insertions(pe, id, |insertions| {
        insertions.is_done = true;
        insertions.asked.iter().map(|(home, count)| (*home, *count)).collect()
    });
    tell_homes(pe, id, asked);
    Outcome::Processed
}

/// At a home: takes note that PE `from` will ask for no more insertions than these, and no other PE for any.
pub(super) fn close(pe: &Pe, id: CollectionId, from: PeId, insertions: u64) -> Outcome {
    if pe.places.borrow().collection(id).is_none() {
        let message = ArrayMessage::Closing { collection: id, from, insertions };
        return pe.keep(Missing::Collection(id), options(), message.into());
    }
    with_insertions(pe, id, |mine| mine.last = Some((from, insertions)));
    sweep_if_closed(pe, id);
    Outcome::Processed
}

/// Tells every home that this PE will insert no more, and for how many insertions it has asked there.
fn tell_homes(pe: &Pe, collection: CollectionId, insertions: Vec<(PeId, u64)>) {
    let (root, from) = (pe.node.id, pe.id);
    let told = |_| ArrayFrame::Closing { root, collection, from, insertions: insertions.clone() };
    tree::tell_nodes(pe, TreeMessage::plain(ID), &Arguments::new(()), told);
    for to in pe.node.pes() {
        let message = closing(collection, from, &insertions, to);
        outbox::send(pe, to, Envelope::system(options(), message));
    }
}

/// Takes in that a PE of another node will insert no more: passes the frame on, and tells the PEs of this node.
pub(super) fn arrive(
    node: &Node,
    root: NodeId,
    (collection, from): (CollectionId, PeId),
    insertions: &[(PeId, u64)],
    frame: &[u8],
) {
    node.post_to_children(&node.outside, root, frame, None);
    for pe in node.pes() {
        let message = closing(collection, from, insertions, pe);
        node.deliver_counted(pe, Envelope::system(options(), message));
    }
}

fn closing(collection: CollectionId, from: PeId, insertions: &[(PeId, u64)], home: PeId) -> ArrayMessage {
    let insertions = insertions.iter().find(|(to, _)| *to == home).map_or(0, |(_, count)| *count);
    ArrayMessage::Closing { collection, from, insertions }
}
