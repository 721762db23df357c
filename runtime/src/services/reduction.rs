//! Reductions over collections: partials go from the members of a PE to the first PE of the node, up the tree of nodes, to the callback.
//!
//! 1. A PE sends a partial when it closes a reduction (see [`crate::model::reduction::Contributions`]) to the first PE of its node. That
//!    PE sends on the combined partial once all PEs of the node and of the nodes below that take part have closed the reduction. A
//!    partial that closes nothing is late: it goes up at once, and on its own.
//! 2. The root calls back when all PEs have closed the reduction and as many members contributed as are expected.
//! 3. Where PEs may be without members, those PEs must be told that a reduction has begun. The first PE of each node tells its own PEs
//!    and its neighbours in the tree, once, when it learns of the reduction while other PEs are missing. An array that cannot grow begins
//!    without this; a PE that loses its last member asks for it.
//! 4. The creation of a collection's elements is a reduction as well, over PEs, beside the numbered ones: it ends when all of them exist.

use crate::base::typed_box::TypedBox;
use crate::delivery::fire::fire;
use crate::delivery::outbox;
use crate::model::call_options::CallOptions;
use crate::model::callback::ErasedCallback;
use crate::model::envelope::{Body, Envelope, SystemMessage, opened};
use crate::model::ids::{CollectionId, NodeId, PeId, ServiceId};
use crate::model::reduction::reducers::Data;
use crate::model::reduction::{CREATION, Partial, Partials, Share, Tally};
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
    /// To the first PE of a node: reductions before this one have begun; see rule 3.
    Begin { collection: CollectionId, before: u64 },
    /// To every PE of a node: reductions before this one have begun.
    Begun { collection: CollectionId, before: u64 },
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
        ReductionMessage::Begin { before, .. } => spread_begin(pe, id, before, true),
        ReductionMessage::Begun { before, .. } => begin(pe, id, before),
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

fn send_partial(pe: &Pe, to: PeId, collection: CollectionId, partial: Partial) {
    send(pe, to, ReductionMessage::Contribution { collection, partial });
}

/// Adds the contribution of a member on this PE to others of the same reduction, where that is all there is to do. Returns whether it was
/// added.
pub(crate) fn join(pe: &Pe, id: CollectionId, number: u64, data: &Data, callback: &ErasedCallback) -> bool {
    with_collection(pe, id, |collection| collection.contributions.join(number, data, callback))
}

/// Adds the contribution of a member on this PE to a reduction of its collection.
pub(crate) fn contribute(pe: &Pe, id: CollectionId, number: u64, share: Share) {
    let added = with_collection(pe, id, |collection| {
        let contributions = &mut collection.contributions;
        let late = contributions.add(number, share).map_err(|cause| (collection.info.chare.name, cause))?;
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
        send(pe, first_pe(pe, pe.node.id), ReductionMessage::Begin { collection: id, before: 0 });
    }
}

/// Reports that all elements that a collection begins with on this PE exist.
fn report_creation(pe: &Pe, id: CollectionId) {
    let created = with_collection(pe, id, |collection| collection.info.created());
    if let Some(callback) = created {
        let tally = Tally { closed: 1, contributed: 0, expected: 0 };
        let partial = Partial { number: CREATION, tally, share: Some(Share::presence(callback)) };
        send_partial(pe, first_pe(pe, pe.node.id), id, partial);
    }
}

/// Adds a partial from a PE of this node or from a node below to the others, and sends them on when they are complete.
fn fold_on_node(pe: &Pe, id: CollectionId, partial: Partial) {
    let info = with_collection(pe, id, |collection| collection.info.clone());
    let (node, number) = (pe.node.id, partial.number);
    let parent = pe.node.topology.parent(node, info.root());
    let closed = match number {
        CREATION => pe.node.topology.pes_below(node, info.root()),
        _ => info.parts_below(node),
    };
    let is_whole = |tally: Tally| {
        tally.closed >= closed
            && (parent.is_some() || i128::from(tally.contributed) == i128::from(tally.expected))
    };
    let is_late = partial.tally.closed == 0;
    let whole = match parent {
        Some(_) if is_late => Ok(Some(partial)),
        _ => partials(pe).borrow_mut().add(id, partial, is_whole),
    };
    match (whole, parent) {
        (Ok(None), _) if number != CREATION => spread_begin(pe, id, number.saturating_add(1), false),
        (Ok(None), _) => {}
        (Ok(Some(whole)), Some(parent)) => send_partial(pe, first_pe(pe, parent), id, whole),
        (Ok(Some(Partial { share: Some(share), .. })), None) => {
            let callback = share.callback;
            match share.finish() {
                Ok(result) => fire(pe, callback, result),
                Err(cause) => fail_reduction(pe, info.chare.name, cause),
            }
        }
        (Ok(Some(_)), None) => {
            fail_reduction(pe, info.chare.name, "it is over, and nobody contributed".to_owned());
        }
        (Err(cause), _) => fail_reduction(pe, info.chare.name, cause),
    }
}

/// Takes note that reductions before this one have begun: a PE without members closes them.
fn begin(pe: &Pe, id: CollectionId, before: u64) {
    let told = with_collection(pe, id, |collection| {
        collection.contributions.begin(before).map_err(|cause| (collection.info.chare.name, cause))
    });
    match told {
        Ok(()) => close_complete(pe, id),
        Err((chare, cause)) => fail_reduction(pe, chare, cause),
    }
}

/// On a node's first PE: tells the PEs of the node and the neighbours in the tree that reductions before this one have begun, if the
/// collection wants that or does from now on (`wanted`).
fn spread_begin(pe: &Pe, id: CollectionId, before: u64, wanted: bool) {
    let waiting = partials(pe).borrow().end(id);
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
        send(pe, member, ReductionMessage::Begun { collection: id, before });
    }
    let (topology, node) = (pe.node.topology, pe.node.id);
    let neighbours = topology.children(node, root).chain(topology.parent(node, root));
    neighbours.for_each(|node: NodeId| {
        send(pe, first_pe(pe, node), ReductionMessage::Begin { collection: id, before });
    });
}
