//! Ends: that of insertions into an array, announced on one PE and told to all homes; and that of a collection, which is forgotten.
//!
//! A collection into which no member can come (a fixed array, a group, a nodegroup, an array whose insertions have ended) ends when its last
//! member is destroyed. Arrays whose elements calls may create never do.
//! 1. Where members could be inserted, homes find out that none is left: each counts its own, wherever they live. It says so up the tree of
//!    nodes when the last insertion and the last death have come; when all have, the root tells all PEs. Elsewhere a PE knows by itself
//!    when its last member is gone.
//! 2. Its root finds that out, because PEs and nodes say there that no member is on them (`Statement::Left`), after all that they have said of
//!    reductions. The root waits for the news of the creation, too, if somebody does.
//! 3. It tells all nodes, down the tree, and they all PEs. No message about reductions is under way any more, and members that there are
//!    not send nothing. A PE that does not know the collection yet keeps the news until it does.
//! 4. A PE forgets all that it keeps of the collection, but for its number (see `pe/places`), which no other collection gets. What still comes
//!    finds nobody, as it did before: a call of a member ends the job, in words, and a call of all members comes to none.

use super::insertion::{options, sweep_if_closed, with_insertions};
use super::message::{ArrayFrame, ArrayMessage, ID};
use crate::delivery::outbox;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::envelope::Envelope;
use crate::model::ids::{CollectionId, NodeId, PeId};
use crate::model::nocopy::CarriedDescriptor;
use crate::node::Node;
use crate::pe::early::Missing;
use crate::pe::queued::Outcome;
use crate::pe::{ChareEvent, Pe};
use crate::services::broadcast::tree::{self, TreeMessage};
use crate::services::reduction;

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
    tell_if_nobody(pe, id);
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

/// At a home: counts the end of a member that has its home here.
pub(super) fn count_death(pe: &Pe, id: CollectionId) {
    with_insertions(pe, id, |insertions| insertions.living = insertions.living.saturating_sub(1));
    tell_if_nobody(pe, id);
}

/// At a home: says that no member is left that has its home here, and none can come, if that is so.
pub(super) fn tell_if_nobody(pe: &Pe, id: CollectionId) {
    let is_over = {
        let mut places = pe.places.borrow_mut();
        let collection = places.collection_mut(id).expect("looked at before");
        !collection.info.is_on_demand() && collection.insertions.are_over()
    };
    if is_over {
        tell_homes_over(pe, pe.node.id, id, 1);
    }
}

fn tell_homes_over(pe: &Pe, node: NodeId, collection: CollectionId, homes: u64) {
    let message = ArrayMessage::HomesOver { collection, homes };
    outbox::send(pe, pe.node.topology.pe(node, 0), Envelope::system(CallOptions::new(), message));
}

/// On a node's first PE: counts the homes of this node and of those below at which nobody is left.
pub(super) fn count_homes(pe: &Pe, id: CollectionId, homes: u64) -> Outcome {
    let root = pe.places.borrow().collection(id).map(|collection| collection.info.root());
    let Some(root) = root else {
        let message = ArrayMessage::HomesOver { collection: id, homes };
        return pe.keep(Missing::Collection(id), CallOptions::new(), message.into());
    };
    let over = with_insertions(pe, id, |insertions| {
        insertions.homes_over = insertions.homes_over.saturating_add(homes);
        insertions.homes_over
    });
    let topology = &pe.node.topology;
    if over >= topology.pes_below(pe.node.id, root) {
        match topology.parent(pe.node.id, root) {
            Some(parent) => tell_homes_over(pe, parent, id, over),
            None => {
                let frame = |_| ArrayFrame::NobodyIsLeft { collection: id };
                tell_from_root(pe, frame, || ArrayMessage::NobodyIsLeft(id));
            }
        }
    }
    Outcome::Processed
}

/// Takes note that no member is anywhere and none will come.
pub(super) fn leave(pe: &Pe, id: CollectionId) -> Outcome {
    if pe.places.borrow().collection(id).is_none() {
        let message = ArrayMessage::NobodyIsLeft(id);
        return pe.keep(Missing::Collection(id), CallOptions::new(), message.into());
    }
    reduction::end_births(pe, id);
    Outcome::Processed
}

/// At a collection's root: tells everybody that the collection has ended.
pub(super) fn tell_end(pe: &Pe, collection: CollectionId) {
    tell_from_root(pe, |_| ArrayFrame::Ended { collection }, || ArrayMessage::Ended(collection));
}

fn tell_from_root(
    pe: &Pe,
    frame: impl Fn(Vec<CarriedDescriptor>) -> ArrayFrame,
    message: impl Fn() -> ArrayMessage,
) {
    tree::tell_nodes(pe, TreeMessage::plain(ID), &Arguments::new(()), frame);
    for to in pe.node.pes() {
        outbox::send(pe, to, Envelope::system(CallOptions::new(), message()));
    }
}

/// Takes in what the root of a collection tells everybody: passes the frame on, and tells the PEs of this node.
///
/// # Errors
/// When there cannot be such a collection, in words.
pub(super) fn arrive_from_root(
    node: &Node,
    collection: CollectionId,
    frame: &[u8],
    message: impl Fn() -> ArrayMessage,
) -> Result<(), String> {
    let root = node.topology.node_of(node.topology.seat_of(collection.creator)?);
    node.post_to_children(&node.outside, root, frame, None);
    tree::tell_pes(node, &CallOptions::new(), message);
    node.outside.processed.add_shared(1);
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
