//! Reductions over collections: partials go from the members of a PE to the first PE of the node, up the tree of nodes, to the callback.
//!
//! 1. A PE sends a partial when it closes a reduction (see [`crate::model::reduction::Contributions`]) to the first PE of its node, which
//!    takes its own without a message. That PE sends on the combined partial once all PEs of the node and of the nodes below that take
//!    part have closed the reduction. A partial that closes nothing is late: it goes up at once, and on its own.
//! 2. The root calls back when all PEs have closed the reduction and as many members contributed as are expected.
//! 3. Where PEs may be without members, those PEs must be told that a reduction has begun. The first PE of each node tells its own PEs
//!    and its neighbours in the tree, once, when it learns of the reduction while other PEs are missing. An array that cannot grow begins
//!    without this; a PE that loses its last member asks for it. In an array that may grow, the news says to which broadcast the reduction
//!    belongs, so that PEs with newborns know whether to wait for them; who knows that later tells it on once more.
//! 4. The creation of a collection's elements is a reduction as well, over PEs, beside the numbered ones: it ends when all of them exist.

use crate::base::typed_box::TypedBox;
use crate::delivery::fire::fire;
use crate::delivery::outbox;
use crate::model::call_options::CallOptions;
use crate::model::callback::ErasedCallback;
use crate::model::envelope::{Body, Envelope, SystemMessage, opened};
use crate::model::ids::{BroadcastId, CollectionId, NodeId, PeId, ServiceId};
use crate::model::reduction::on_node::{FoldNode, Folded, fold};
use crate::model::reduction::reducers::Data;
use crate::model::reduction::{Begun, CREATION, Partial, Partials, Share, Tally};
use crate::model::registry::{Identity, show};
use crate::node::{Delivery, NodeService};
use crate::pe::early::Missing;
use crate::pe::places::LocalCollection;
use crate::pe::queued::Outcome;
use crate::pe::{ElementEvent, Pe, Service};
use chare_lrts::codec::{CodecError, Writer};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;

pub(crate) const ID: ServiceId = ServiceId(2);

pub(crate) const SERVICE: Service = Service {
    node: NodeService { arrive: |_, arrival| Delivery::of::<ReductionMessage>(arrival), ..NodeService::NONE },
    state: || TypedBox::new(RefCell::new(Partials::default())),
    deliver: |pe, options, message| receive(pe, options, opened(message)),
    element: |pe, event| match event {
        ElementEvent::Born { collection } => report_creation(pe, *collection),
        ElementEvent::Called { broadcast } => hear(pe, *broadcast),
        ElementEvent::Gone { collection, next_reduction, .. } => {
            remove_member(pe, *collection, *next_reduction);
        }
        ElementEvent::Forgotten { .. } => {}
    },
    clear: |pe| drop(partials(pe).take()),
    ..Service::named(ID, "reductions")
};

/// A message between PEs about reductions over a collection.
#[derive(Serialize, Deserialize)]
enum ReductionMessage {
    /// To the first PE of a node: contributions of its PEs or of the nodes below.
    Contribution { collection: CollectionId, partial: Partial },
    /// To the first PE of a node: reductions have begun; see rule 3.
    Begin { collection: CollectionId, news: Begun },
    /// To every PE of a node: reductions have begun.
    Begun { collection: CollectionId, news: Begun },
}

impl SystemMessage for ReductionMessage {
    fn service(&self) -> ServiceId {
        ID
    }

    fn describe(&self) -> String {
        "a reduction".to_owned()
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Contribution { partial, .. } => partial.bytes(),
            Self::Begin { .. } | Self::Begun { .. } => 0,
        }
    }

    fn write(&self, to: PeId, out: &mut Writer<'_>) -> Result<(), CodecError> {
        out.write(&(to, self))
    }
}

/// On a node's first PE: the partials that wait for others, each with its collection.
pub(crate) fn each_partial(pe: &Pe, mut tell: impl FnMut(CollectionId, &Partial)) {
    partials(pe).borrow().iter().for_each(|(collection, partial)| tell(collection, partial));
}

/// On a node's first PE: partials of the node's PEs and of the nodes below.
fn partials(pe: &Pe) -> &RefCell<Partials> {
    pe.state(ID)
}

fn receive(pe: &Pe, options: CallOptions, message: ReductionMessage) -> Outcome {
    let (ReductionMessage::Contribution { collection: id, .. }
    | ReductionMessage::Begin { collection: id, .. }
    | ReductionMessage::Begun { collection: id, .. }) = message;
    // A message of another PE may be faster than the news of the collection.
    if pe.places.borrow().collection(id).is_none() {
        return pe.keep(Missing::Collection(id), options, Body::System(Box::new(message)));
    }
    match message {
        ReductionMessage::Contribution { partial, .. } => fold_on_node(pe, id, partial),
        ReductionMessage::Begin { news, .. } => spread_begin(pe, id, news, true),
        ReductionMessage::Begun { news, .. } => begin(pe, id, news),
    }
    Outcome::Processed
}

fn first_pe(pe: &Pe, node: NodeId) -> PeId {
    pe.node.topology.pe(node, 0)
}

/// Runs `body` with this PE's part of a collection, which is known here.
fn with_collection<R>(pe: &Pe, id: CollectionId, body: impl FnOnce(&mut LocalCollection) -> R) -> R {
    let mut places = pe.places.borrow_mut();
    body(places.collection_mut(id).expect("a member's collection is known on its PE"))
}

fn fail_reduction(pe: &Pe, chare: &str, cause: String) {
    pe.fail(format!("a reduction over {chare}"), cause);
}

fn send(pe: &Pe, to: PeId, message: ReductionMessage) {
    outbox::send(pe, to, Envelope::system(CallOptions::new(), message));
}

/// Passes a partial on to the first PE of a node: this one takes its own at once, so that what goes up the tree leaves before the entry
/// that contributed is over.
fn send_partial(pe: &Pe, to: PeId, collection: CollectionId, partial: Partial) {
    if to == pe.id {
        fold_on_node(pe, collection, partial);
    } else {
        send(pe, to, ReductionMessage::Contribution { collection, partial });
    }
}

/// Adds the contribution of a member on this PE to others of the same reduction, where that is all there is to do. Returns whether it was
/// added.
pub(crate) fn join(pe: &Pe, id: CollectionId, number: u64, data: &Data, callback: &ErasedCallback) -> bool {
    let within = pe.within(id);
    with_collection(pe, id, |collection| collection.contributions.join(number, within, data, callback))
}

/// Lets a newborn member on this PE begin, which contributes for the first time. Returns the number of the reduction with which it begins,
/// or `None` if it may not; then the job ends.
#[cold]
pub(crate) fn begin_member(pe: &Pe, identity: &Identity, id: CollectionId) -> Option<u64> {
    let (newborn, within) = (identity.contributions.get(), pe.within(id));
    let begun = with_collection(pe, id, |collection| collection.contributions.begin_member(newborn, within));
    let refuse = |cause| {
        let who = show(identity.name, identity.target);
        pe.fail(format!("a contribution of {who} of {}", identity.name), cause);
    };
    begun.map_err(refuse).ok()
}

/// Adds the contribution of a member on this PE to a reduction of its collection.
pub(crate) fn contribute(pe: &Pe, id: CollectionId, number: u64, share: Share) {
    let within = pe.within(id);
    let added = with_collection(pe, id, |collection| {
        let contributions = &mut collection.contributions;
        let late =
            contributions.add(number, within, share).map_err(|cause| (collection.info.chare.name, cause))?;
        Ok(late.or_else(|| contributions.close()))
    });
    match added {
        Ok(None) => {}
        Ok(Some(partial)) => {
            send_partial(pe, first_pe(pe, pe.node.id), id, partial);
            close_complete(pe, id);
        }
        Err((chare, cause)) => fail_reduction(pe, chare, cause),
    }
}

/// Takes note that the members of this PE hear a broadcast; the reductions that belong to it may have been waiting for that.
fn hear(pe: &Pe, broadcast: BroadcastId) {
    with_collection(pe, broadcast.collection, |collection| collection.contributions.hear(broadcast));
    close_complete(pe, broadcast.collection);
}

/// Closes the reductions that can be closed.
fn close_complete(pe: &Pe, id: CollectionId) {
    while let Some(partial) = with_collection(pe, id, |collection| collection.contributions.close()) {
        send_partial(pe, first_pe(pe, pe.node.id), id, partial);
    }
}

/// Takes note that a member of this PE is gone; `next` is the first reduction to which it has not contributed.
fn remove_member(pe: &Pe, id: CollectionId, next: u64) {
    let was_last = with_collection(pe, id, |collection| collection.contributions.remove_member(next));
    close_complete(pe, id);
    if was_last {
        send(pe, first_pe(pe, pe.node.id), ReductionMessage::Begin { collection: id, news: Begun::NOTHING });
    }
}

/// Reports that all elements that a collection begins with on this PE exist.
fn report_creation(pe: &Pe, id: CollectionId) {
    let created = with_collection(pe, id, |collection| collection.info.created());
    if let Some(callback) = created {
        let tally = Tally { closed: 1, contributed: 0, expected: 0 };
        let share = Some(Share::presence(callback));
        let partial = Partial { number: CREATION, tally, within: None, share };
        send_partial(pe, first_pe(pe, pe.node.id), id, partial);
    }
}

/// Adds a partial from a PE of this node or from a node below to the others, and sends them on when they are complete.
fn fold_on_node(pe: &Pe, id: CollectionId, partial: Partial) {
    let info = with_collection(pe, id, |collection| collection.info.clone());
    let node = pe.node.id;
    let parent = pe.node.topology.parent(node, info.root());
    let is_numbered = partial.is_numbered();
    let parts =
        if is_numbered { info.parts_below(node) } else { pe.node.topology.pes_below(node, info.root()) };
    let place = FoldNode { collection: id, parts, is_root: parent.is_none() };
    let (news, is_late) = (Begun::new(partial.number, partial.within), partial.tally.closed == 0);
    let folded = fold(&mut partials(pe).borrow_mut(), place, partial, &pe.node.allowance);
    if is_numbered && !is_late {
        match &folded {
            Ok(Folded::Waits) => spread_begin(pe, id, news, false),
            Ok(Folded::Up(whole) | Folded::Over(whole)) => {
                with_collection(pe, id, |collection| collection.telling.close(whole.number));
            }
            Err(_) => {}
        }
    }
    match folded {
        Ok(Folded::Waits) => {}
        Ok(Folded::Up(whole)) => {
            let parent = parent.expect("a node that is not the root has one above");
            send_partial(pe, first_pe(pe, parent), id, whole);
        }
        Ok(Folded::Over(Partial { share: Some(share), .. })) => {
            let callback = share.callback;
            match share.finish() {
                Ok(result) => fire(pe, callback, result),
                Err(cause) => fail_reduction(pe, info.chare.name, cause),
            }
        }
        Ok(Folded::Over(_)) => {
            fail_reduction(pe, info.chare.name, "it is over, and nobody contributed".to_owned());
        }
        Err(cause) => fail_reduction(pe, info.chare.name, cause),
    }
}

/// Takes note that reductions have begun: a PE without members closes them, and one with newborns may learn that they are not awaited.
fn begin(pe: &Pe, id: CollectionId, news: Begun) {
    let told = with_collection(pe, id, |collection| {
        collection.contributions.begin(news).map_err(|cause| (collection.info.chare.name, cause))
    });
    match told {
        Ok(()) => close_complete(pe, id),
        Err((chare, cause)) => fail_reduction(pe, chare, cause),
    }
}

/// On a node's first PE: tells the PEs of the node and the neighbours in the tree that reductions have begun, if the collection wants that
/// or does from now on (`wanted`).
fn spread_begin(pe: &Pe, id: CollectionId, news: Begun, wanted: bool) {
    let (chare, root, noted) = with_collection(pe, id, |collection| {
        let waiting = || partials(pe).borrow().end(id);
        let noted = collection.telling.note(news, waiting, wanted);
        (collection.info.chare.name, collection.info.root(), noted)
    });
    let news = match noted {
        Ok(Some(news)) => news,
        Ok(None) => return,
        Err(cause) => return fail_reduction(pe, chare, cause),
    };
    for member in pe.node.pes() {
        send(pe, member, ReductionMessage::Begun { collection: id, news });
    }
    let (topology, node) = (&pe.node.topology, pe.node.id);
    let neighbours = topology.children(node, root).chain(topology.parent(node, root));
    neighbours.for_each(|node: NodeId| {
        send(pe, first_pe(pe, node), ReductionMessage::Begin { collection: id, news });
    });
}
