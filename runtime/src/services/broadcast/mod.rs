//! Broadcasts: a call of every member of a collection, down the tree of nodes and to every PE. A call of one member, or of some of them,
//! never stands here.
//! `api/proxy -> **services/broadcast** -> delivery/outbox`, and
//! `delivery/inbox -> **services/broadcast** -> node/mailbox, pe/run_queue`
//!
//! 1. A node that receives a broadcast tells its children first, then its own PEs.
//! 2. A frame without nocopy arguments is passed on as it came. A frame with nocopy arguments waits until this node has them, and tells
//!    each child where that child finds them: see [`many`].
//! 3. A PE that does not know the collection yet keeps the call until it does. On one that knows that the collection has ended, the call comes
//!    to no members.

mod members;
mod message;
pub(crate) mod tree;

pub(crate) use message::{Broadcast, ID};

use crate::base::typed_box::TypedBox;
use crate::delivery::outbox;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::envelope::{Body, Envelope, opened};
use crate::model::ids::{BroadcastId, CollectionId, EntryId, NodeId, PeId};
use crate::model::nocopy::{CarriedDescriptor, Local, carried_bytes};
use crate::model::registry::{EntryRegistration, check_count, find_entry};
use crate::node::backpressure::hold_back;
use crate::node::credit::{Cost, cost_of};
use crate::node::mailbox::Work;
use crate::node::{Arrival, Node, NodeService};
use crate::pe::early::Missing;
use crate::pe::queued::Outcome;
use crate::pe::{CallOfMany, ChareEvent, Pe, Service};
use crate::services::audience;
use crate::transfer::many::dealt;
use crate::transfer::many::{self, Carried, Tail, Wanted};
use chare_lrts::codec;
use members::call_members;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::iter::repeat_n;
use std::sync::Arc;
use tree::TreeMessage;

pub(crate) const SERVICE: Service = Service {
    node: NodeService {
        arrive: |node, arrival| {
            arrive(node, arrival)?;
            Ok(None)
        },
        ..NodeService::NONE
    },
    deliver: |pe, options, message| run(pe, options, opened(message)),
    fire: Some(fire),
    state: || TypedBox::new(Calls::default()),
    event: Some(|pe, event| {
        if let ChareEvent::Ended { collection } = event {
            pe.state::<Calls>(ID).borrow_mut().remove(collection);
        }
    }),
    ..Service::named(ID, "broadcasts")
};

/// The collection and the entry that a broadcast calls, and the call's options.
#[derive(Clone, Serialize, Deserialize)]
struct CallOfAll {
    collection: CollectionId,
    entry: EntryId,
    options: CallOptions,
    reference: u64,
}

/// A broadcast between nodes; the encoded arguments follow.
#[derive(Serialize, Deserialize)]
struct BroadcastFrame {
    root: NodeId,
    call: CallOfAll,
    /// Memory lent by the node that sent the frame, whichever node owns it.
    nocopy: Vec<CarriedDescriptor>,
}

/// The broadcasts that this PE has called, counted for each collection that may grow.
type Calls = RefCell<FxHashMap<CollectionId, u64>>;

/// Whether members may come to a collection beside a broadcast, as far as is known here; to one that has ended none come.
fn grows(pe: &Pe, collection: CollectionId) -> Option<bool> {
    let places = pe.places.borrow();
    match places.collection(collection) {
        Some(local) => Some(local.info.may_be_anywhere()),
        None => places.has_ended(collection).then_some(false),
    }
}

/// The options of a broadcast, with its id where members may come beside it.
fn identify(pe: &Pe, collection: CollectionId, options: CallOptions) -> CallOptions {
    if grows(pe, collection) == Some(false) {
        return options;
    }
    let mut calls = pe.state::<Calls>(ID).borrow_mut();
    let next = calls.entry(collection).or_default();
    let serial = *next;
    *next += 1;
    options.part_of(BroadcastId { collection, caller: pe.id, serial })
}

/// Calls an entry of every member of a collection. Members here read nocopy arguments where the caller has them.
pub(crate) fn call_all(pe: &Pe, options: CallOptions, broadcast: Broadcast) {
    if let Err(cause) = options.check_not_due() {
        return pe.fail(
            format!("a call of all members by {}::{}", broadcast.entry.chare, broadcast.entry.name),
            cause,
        );
    }
    let Broadcast { collection, entry, arguments, nocopy, reference } = broadcast;
    let mut options = audience::count(pe, identify(pe, collection, options));
    pe.depart_to_each((0..pe.node.topology.pes()).map(PeId), &mut options);
    let call = CallOfAll { collection, entry: entry.id, options, reference };
    match many::take_in(&pe.node, entry, nocopy) {
        Ok(mut carried) => {
            deal(pe, &call, &mut carried);
            tell_all(pe, call, entry, arguments, &carried);
        }
        Err(staging) => staging.finish(&pe.node, move |node, carried| {
            let arriving = Arriving { call, entry, arguments, cost: Cost::NONE };
            tell_all_later(node, arriving, &carried);
        }),
    }
    pe.node.topology.children(pe.node.id, pe.node.id).for_each(|child| hold_back(&pe.node, child));
}

/// Notes which nodes need which parts of arguments that are dealt out, where that is less than all.
fn deal(pe: &Pe, call: &CallOfAll, carried: &mut [Carried]) {
    let dealt = call.options.dealt().unwrap_or_default();
    for (one, dealing) in carried.iter_mut().zip(dealt).filter(|(one, _)| one.is_copied(&pe.node)) {
        one.deal(dealt::parts(pe, call.collection, dealing.as_ref()));
    }
}

/// Tells the nodes below, and the PEs of this one.
fn tell_all(
    pe: &Pe,
    call: CallOfAll,
    entry: &'static EntryRegistration,
    arguments: Arguments,
    carried: &[Carried],
) {
    let told = |nocopy| BroadcastFrame { root: pe.node.id, call: call.clone(), nocopy };
    tree::tell_nodes(pe, TreeMessage { service: ID, carried, is_run: true }, &arguments, told);
    let nocopy = carried.iter().map(Carried::for_member).collect();
    let CallOfAll { collection, options, reference, .. } = call;
    let broadcast = Broadcast { collection, entry, arguments, nocopy, reference };
    for (to, broadcast) in one_for_each_pe(&pe.node, broadcast) {
        outbox::send(pe, to, Envelope::system(options.clone(), broadcast));
    }
}

/// As [`tell_all`], off the PE that called: when nocopy arguments had to be staged first.
fn tell_all_later(node: &Node, arriving: Arriving, carried: &[Carried]) {
    let root = node.id;
    let told = |nocopy| BroadcastFrame { root, call: arriving.call.clone(), nocopy };
    let telling = TreeMessage { service: ID, carried, is_run: true };
    tree::tell_children(node, root, telling, Tail::Value(&arriving.arguments), told);
    tell_members(node, arriving, carried);
}

/// Calls all members, because a callback leads to them.
fn fire(pe: &Pe, call: CallOfMany) {
    let CallOfMany { many: (creator, serial), options, entry, arguments, reference } = call;
    let collection = CollectionId { creator, serial };
    call_all(pe, options, Broadcast { collection, entry, arguments, nocopy: Vec::new(), reference });
}

/// Takes in a broadcast from another node.
///
/// # Errors
/// The part of the frame that does not fit this program or this job, in words.
fn arrive(node: &Arc<Node>, Arrival { source, frame, said }: Arrival<'_>) -> Result<(), String> {
    let (BroadcastFrame { root, call, nocopy }, rest) =
        codec::decode_front(said).map_err(|error| error.to_string())?;
    tree::check_root(node, root)?;
    check_identity(&call)?;
    let entry = find_entry(call.entry)?;
    check_count(nocopy.len(), entry)?;
    let cost = node.charge(source, cost_of(frame.len(), carried_bytes(&nocopy)))?;
    let arguments = entry.decode(rest)?;
    let arriving = Arriving { call, entry, arguments, cost };
    if !nocopy.is_empty() {
        bring_in(node, root, arriving, nocopy, rest)
    } else {
        node.post_to_children(&node.outside, root, frame, Some(cost.bytes));
        tell_members(node, arriving, &[]);
        node.outside.processed.add_shared(1);
        Ok(())
    }
}

/// Checks that the broadcast which a call says it is one of is one to the same collection.
///
/// # Errors
/// When it is another collection's, in words.
fn check_identity(call: &CallOfAll) -> Result<(), String> {
    match call.options.within() {
        Some(BroadcastId { collection, .. }) if collection != call.collection => Err(format!(
            "a call of all members of {} says that it is one to {}",
            Missing::Collection(call.collection),
            Missing::Collection(collection)
        )),
        _ => Ok(()),
    }
}

/// A call of all members that has come from another node.
struct Arriving {
    call: CallOfAll,
    entry: &'static EntryRegistration,
    arguments: Arguments,
    cost: Cost,
}

/// Brings in the nocopy arguments of a call of all members, and passes the call on when this node has them.
fn bring_in(
    node: &Arc<Node>,
    root: NodeId,
    arriving: Arriving,
    nocopy: Vec<CarriedDescriptor>,
    rest: &[u8],
) -> Result<(), String> {
    let is_leaf = node.topology.children(node.id, root).next().is_none();
    let encoded = if is_leaf { Vec::new() } else { rest.to_vec() };
    let entry = arriving.entry;
    let kinds = entry.nocopy.iter().copied();
    let wanted =
        kinds.zip(nocopy).map(|(kind, descriptor)| Wanted { descriptor, kind, into: None }).collect();
    let what = move || entry.fetching();
    many::bring_in(node, arriving.cost.source, what, wanted, move |node, carried| {
        let told = |nocopy| BroadcastFrame { root, call: arriving.call.clone(), nocopy };
        let telling = TreeMessage { service: ID, carried: &carried, is_run: true };
        tree::tell_children(node, root, telling, Tail::Encoded(&encoded), told);
        tell_members(node, arriving, &carried);
        node.outside.processed.add_shared(1);
    })
}

/// Leaves a call of all members with every PE of this node; each gives a part of its cost back.
fn tell_members(node: &Node, arriving: Arriving, carried: &[Carried]) {
    let Arriving { call: CallOfAll { collection, options, reference, .. }, entry, arguments, cost } =
        arriving;
    let nocopy: Vec<Local> = carried.iter().map(Carried::for_member).collect();
    let options = options.of_parts(carried.iter().map(Carried::packed_parts));
    let broadcast = Broadcast { collection, entry, arguments, nocopy, reference };
    for ((pe, broadcast), cost) in
        one_for_each_pe(node, broadcast).zip(cost.split(node.topology.pes_per_node()))
    {
        node.outside.sent.add_shared(1);
        node.deliver(pe, Work::Message(Envelope::system(options.clone(), broadcast), cost));
    }
}

/// A broadcast for each PE of this node: copies, and for the last one, often the only one, the original.
fn one_for_each_pe(node: &Node, broadcast: Broadcast) -> impl Iterator<Item = (PeId, Broadcast)> {
    node.pes().zip(repeat_n(broadcast, node.topology.pes_per_node() as usize))
}

/// On a PE: calls the members that are here.
fn run(pe: &Pe, options: CallOptions, broadcast: Broadcast) -> Outcome {
    let collection = broadcast.collection;
    let Some(may_grow) = grows(pe, collection) else {
        return pe.keep(Missing::Collection(collection), options, Body::System(Box::new(broadcast)));
    };
    let mut options = if may_grow { options } else { options.apart() };
    let audience = options.take_audience();
    let within = options.within();
    if let Some(broadcast) = within {
        pe.tell(ChareEvent::Called { broadcast });
    }
    let called = pe.run_within(within, || call_members(pe, &options, audience, broadcast));
    if let Some(audience) = audience {
        audience::tell(pe, audience, called);
    }
    Outcome::Processed
}
