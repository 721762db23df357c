//! A reduction's way to its result: from the members of a PE to the first PE of the node, up the tree of nodes, to the callback.
//!
//! 1. A PE sends a partial when it closes a reduction (see [`crate::contributions`]) to the first PE of its node. That PE sends on what
//!    has come together once all PEs of the node and of the nodes below that take part have closed it. A partial that closes nothing
//!    is late: it goes up at once, and on its own.
//! 2. The root calls back when all PEs have closed the reduction and as many members contributed as are expected.
//! 3. Where PEs may be without members, those must be told that a reduction has begun. The first PE of each node tells its own
//!    PEs and its neighbours in the tree, once, when it hears of the reduction while others are missing. An array that cannot grow
//!    begins without this; a PE that loses its last member asks for it.
//! 4. That all elements of a new collection exist is a reduction as well, over PEs, beside the numbered ones.

use crate::callback::ErasedCallback;
use crate::context;
use crate::envelope::{Body, Envelope, News};
use crate::error::JobError;
use crate::ids::{CollectionId, NodeId, PeId};
use crate::members::LocalCollection;
use crate::outbox;
use crate::partial::{CREATION, Partial, Tally};
use crate::pe::Pe;
use crate::queue::CallOptions;
use crate::reducers::Data;
use crate::reduction::Share;

/// What a node's first PE knows of who has to be told that reductions have begun.
#[derive(Default)]
pub(crate) struct Telling {
    is_wanted: bool,
    /// Everyone has been told of the reductions before this one.
    told: u64,
}

/// Runs `body` with what this PE knows of a collection, which it does.
fn with_collection<R>(pe: &Pe, id: CollectionId, body: impl FnOnce(&mut LocalCollection) -> R) -> R {
    let mut places = pe.places.borrow_mut();
    body(places.collection_mut(id).expect("a member's collection is known on its PE"))
}

fn fail(pe: &Pe, chare: &str, cause: String) {
    let what = format!("a reduction over {chare}");
    pe.node.fail(JobError::Delivery { what, pe: pe.id, node: pe.node.id, cause });
}

fn send(pe: &Pe, to: PeId, collection: CollectionId, partial: Partial) {
    let body = Body::Contribution { collection, partial: Box::new(partial) };
    outbox::send(pe, to, Envelope { options: CallOptions::new(), body });
}

/// Adds the contribution of a member here to others of the same reduction, where that is all there is to do. Returns whether it did.
pub(crate) fn join(pe: &Pe, id: CollectionId, number: u64, data: &Data, callback: &ErasedCallback) -> bool {
    with_collection(pe, id, |collection| collection.contributions.join(number, data, callback))
}

/// A member here contributes to a reduction of its collection.
pub(crate) fn contribute(pe: &Pe, id: CollectionId, number: u64, share: Share) {
    let added = with_collection(pe, id, |collection| {
        let contributions = &mut collection.contributions;
        let late = contributions.add(number, share).map_err(|cause| (collection.info.chare.name, cause))?;
        Ok(late.or_else(|| contributions.close()))
    });
    match added {
        Ok(None) => {}
        Ok(Some(partial)) => {
            send(pe, outbox::first_pe(pe, pe.node.id), id, partial);
            close_complete(pe, id);
        }
        Err((chare, cause)) => fail(pe, chare, cause),
    }
}

/// Closes the reductions that can be closed.
pub(crate) fn close_complete(pe: &Pe, id: CollectionId) {
    while let Some(partial) = with_collection(pe, id, |collection| collection.contributions.close()) {
        send(pe, outbox::first_pe(pe, pe.node.id), id, partial);
    }
}

/// A member of this PE is gone, which would have contributed to reduction `next` next.
pub(crate) fn remove_member(pe: &Pe, id: CollectionId, next: u64) {
    let was_last = with_collection(pe, id, |collection| collection.contributions.remove_member(next));
    close_complete(pe, id);
    if was_last {
        tell(pe, outbox::first_pe(pe, pe.node.id), News::Begin { collection: id, before: 0 });
    }
}

/// All elements that a collection begins with on this PE exist.
pub(crate) fn report_creation(pe: &Pe, id: CollectionId) {
    let created = with_collection(pe, id, |collection| collection.info.created());
    if let Some(callback) = created {
        let tally = Tally { closed: 1, contributed: 0, expected: 0 };
        let partial = Partial { number: CREATION, tally, share: Some(Share::presence(callback)) };
        send(pe, outbox::first_pe(pe, pe.node.id), id, partial);
    }
}

/// A PE of this node or a node below has sent a partial. Gives it back if the collection has not been heard of here yet.
pub(crate) fn fold_on_node(pe: &Pe, id: CollectionId, partial: Box<Partial>) -> Result<(), Box<Partial>> {
    let Some(info) = pe.places.borrow().collection(id).map(|collection| collection.info.clone()) else {
        return Err(partial);
    };
    let partial = *partial;
    let (node, number) = (pe.node.id, partial.number);
    let parent = pe.node.layout.parent(node, info.root());
    let closed = match number {
        CREATION => pe.node.layout.pes_below(node, info.root()),
        _ => info.parts_below(node),
    };
    let is_whole = |tally: Tally| {
        tally.closed >= closed
            && (parent.is_some() || i128::from(tally.contributed) == i128::from(tally.expected))
    };
    let is_late = partial.tally.closed == 0;
    let whole = match parent {
        Some(_) if is_late => Ok(Some(partial)),
        _ => pe.node_partials.borrow_mut().add(id, partial, is_whole),
    };
    match (whole, parent) {
        (Ok(None), _) if number != CREATION => spread_begin(pe, id, number.saturating_add(1), false),
        (Ok(None), _) => {}
        (Ok(Some(whole)), Some(parent)) => send(pe, outbox::first_pe(pe, parent), id, whole),
        (Ok(Some(Partial { share: Some(share), .. })), None) => {
            let callback = share.callback;
            match share.finish() {
                Ok(result) => context::fire(pe, callback, result),
                Err(cause) => fail(pe, info.chare.name, cause),
            }
        }
        (Ok(Some(_)), None) => fail(pe, info.chare.name, "it is over, and nobody contributed".to_owned()),
        (Err(cause), _) => fail(pe, info.chare.name, cause),
    }
    Ok(())
}

/// Reductions before this one have begun: a PE without members closes them.
pub(crate) fn begin(pe: &Pe, id: CollectionId, before: u64) {
    let told = with_collection(pe, id, |collection| {
        collection.contributions.begin(before).map_err(|cause| (collection.info.chare.name, cause))
    });
    match told {
        Ok(()) => close_complete(pe, id),
        Err((chare, cause)) => fail(pe, chare, cause),
    }
}

/// On a node's first PE: reductions before this one have begun; tells everyone who is near, if that is wanted or `wanted` from now on.
pub(crate) fn spread_begin(pe: &Pe, id: CollectionId, before: u64, wanted: bool) {
    let waiting = pe.node_partials.borrow().end(id);
    let spread = with_collection(pe, id, |collection| {
        let telling = &mut collection.telling;
        let is_new = wanted && !telling.is_wanted;
        telling.is_wanted |= wanted;
        let before = if is_new { before.max(waiting) } else { before };
        if !telling.is_wanted || !(is_new || before > telling.told) {
            return None;
        }
        telling.told = telling.told.max(before);
        Some((collection.info.root(), telling.told))
    });
    let Some((root, before)) = spread else { return };
    for member in pe.node.pes() {
        tell(pe, member, News::Begun { collection: id, before });
    }
    let (layout, node) = (pe.node.layout, pe.node.id);
    let neighbours = layout.children(node, root).chain(layout.parent(node, root));
    neighbours.for_each(|node: NodeId| {
        tell(pe, outbox::first_pe(pe, node), News::Begin { collection: id, before });
    });
}

fn tell(pe: &Pe, to: PeId, news: News) {
    outbox::send(pe, to, Envelope { options: CallOptions::new(), body: Body::News(Box::new(news)) });
}

impl Telling {
    /// What is known at the beginning.
    pub(crate) fn new(is_wanted: bool) -> Self {
        Self { is_wanted, told: 0 }
    }
}
