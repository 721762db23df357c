//! Ends: that of insertions into an array, announced on one PE and told to all homes; and that of a collection, which is forgotten.
//!
//! A collection into which no member can come (a fixed array, a group, a nodegroup) ends when its last member is destroyed:
//! 1. Its root finds that out, because PEs and nodes say there that no member is left (`Statement::Left`), after all that they have said of
//!    reductions. The root waits for the news of the creation, too, if somebody does.
//! 2. It tells all nodes, down the tree, and they all PEs. No message about reductions is under way any more, and members that there are
//!    not send nothing. A PE that does not know the collection yet keeps the news until it does.
//! 3. A PE forgets all that it keeps of the collection, but for its number (see `pe/places`), which no other collection gets. What still comes
//!    finds nobody, as it did before: a call of a member ends the job, in words, and a call of all members comes to none.

use super::insertion::{options, sweep_if_closed, with_insertions};
use super::message::{ArrayFrame, ArrayMessage, ID};
use crate::delivery::outbox;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::envelope::Envelope;
use crate::model::ids::{CollectionId, NodeId, PeId};
use crate::node::Node;
use crate::pe::early::Missing;
use crate::pe::queued::Outcome;
use crate::pe::{ChareEvent, Pe};
use crate::services::broadcast::tree::{self, TreeMessage};

/// Announces that nobody will ask for more members.
pub(crate) fn done_inserting(pe: &Pe, collection: CollectionId) {
    outbox::send(pe, pe.id, Envelope::system(options(), ArrayMessage::DoneInserting(collection)));
}

/// On the PE where `done_inserting` was called: tells the homes.
pub(super) fn announce_end(pe: &Pe, id: CollectionId) -> Outcome {
    if pe.places.borrow().has_ended(id) {
        return Outcome::Processed;
    }
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
    if pe.places.borrow().has_ended(id) {
        return Outcome::Processed;
    }
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

/// At a collection's root: tells everybody that the collection has ended.
pub(super) fn tell_end(pe: &Pe, collection: CollectionId) {
    let told = |_| ArrayFrame::Ended { collection };
    tree::tell_nodes(pe, TreeMessage::plain(ID), &Arguments::new(()), told);
    for to in pe.node.pes() {
        outbox::send(pe, to, Envelope::system(CallOptions::new(), ArrayMessage::Ended(collection)));
    }
}

/// Takes in that a collection has ended: passes the frame on, and tells the PEs of this node.
///
/// # Errors
/// When there cannot be such a collection, in words.
pub(super) fn arrive_end(node: &Node, collection: CollectionId, frame: &[u8]) -> Result<(), String> {
    if collection.creator.0 >= node.topology.pes() {
        return Err(format!("the end of a collection of {}, which does not exist", collection.creator));
    }
    node.post_to_children(&node.outside, node.topology.node_of(collection.creator), frame, None);
    tree::tell_pes(node, &CallOptions::new(), || ArrayMessage::Ended(collection));
    Ok(())
}

/// Forgets a collection that has ended.
pub(super) fn end(pe: &Pe, id: CollectionId) -> Outcome {
    let members = pe.places.borrow().collection(id).map(|collection| collection.members.len());
    match members {
        None => pe.keep(Missing::Collection(id), CallOptions::new(), ArrayMessage::Ended(id).into()),
        Some(0) => {
            let ended = pe.places.borrow_mut().end_collection(id);
            pe.tell(ChareEvent::Ended { collection: id });
            drop(ended);
            Outcome::Processed
        }
        Some(members) => {
            let cause = format!("{members} of its members are on this PE");
            pe.fail("the end of a collection".to_owned(), cause);
            Outcome::Processed
        }
    }
}
