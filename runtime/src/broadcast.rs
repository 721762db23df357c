//! What goes to all nodes, down the layout's tree rooted at the sender's: new collections, calls of all members, the
//! readonly values, the job's end. `proxy -> **broadcast** -> outbox`, and `inbox -> **broadcast** -> queue`
//!
//! 1. A node that is told first tells its children, then its own PEs.
//! 2. A frame without nocopy arguments is passed on as it came. One with them waits until this node has them, and tells
//!    each child where that child finds them: see [`carry`].
//! 3. A PE that has not heard of the collection keeps the call until it has.

use crate::collection::CollectionInfo;
use crate::credit::{Toll, toll};
use crate::envelope::{self, Body, Broadcast, CallOfAll, Envelope, Spread};
use crate::error::JobError;
use crate::holding::hold_back;
use crate::ids::{CollectionId, NodeId, PeId};
use crate::mailbox::Work;
use crate::message::Arguments;
use crate::node::{Ending, Node};
use crate::outbox;
use crate::pe::Pe;
use crate::queue::CallOptions;
use crate::readonly;
use crate::registry::EntryRegistration;
use crate::zerocopy::carry::{self, Carried, Wanted};
use crate::zerocopy::{Descriptor, Leaving, lent_bytes};
use std::sync::Arc;

/// Calls an entry of every member of a collection. Members here read nocopy arguments where the caller has them.
pub(crate) fn call_all(pe: &Pe, options: CallOptions, broadcast: Broadcast) {
    let Broadcast { collection, entry, ref nocopy, reference, .. } = broadcast;
    let call = CallOfAll { collection, entry: entry.id, options, reference };
    let kinds = entry.nocopy.iter().copied();
    let carried: Vec<Carried> =
        kinds.zip(nocopy).map(|(kind, leaving)| Carried::sent(kind, leaving.clone())).collect();
    let spread = |nocopy| Spread::Broadcast { call: call.clone(), nocopy };
    tell_nodes(pe, &broadcast.arguments, &carried, spread);
    for to in pe.node.pes() {
        let body = Body::Broadcast(Box::new(broadcast.clone()));
        outbox::send(pe, to, Envelope { options: call.options.clone(), body });
    }
    pe.node.layout.children(pe.node.id, pe.node.id).for_each(|child| hold_back(&pe.node, child));
}

/// Tells every home that a PE will insert no more, and for how many insertions it has asked there.
pub(crate) fn close_all(pe: &Pe, collection: CollectionId, insertions: Vec<(PeId, u64)>) {
    tell_nodes(pe, &Arguments::new(()), &[], |_| Spread::Closing {
        collection,
        from: pe.id,
        insertions: insertions.clone(),
    });
    for to in pe.node.pes() {
        let body = closing(collection, pe.id, &insertions, to);
        outbox::send(pe, to, Envelope { options: CallOptions::new().expedited(), body });
    }
}

fn closing(collection: CollectionId, from: PeId, insertions: &[(PeId, u64)], home: PeId) -> Body {
    let insertions = insertions.iter().find(|(to, _)| *to == home).map_or(0, |(_, count)| *count);
    Body::Closing { collection, from, insertions }
}

/// Tells all other nodes.
pub(crate) fn tell_nodes(
    pe: &Pe,
    arguments: &Arguments,
    carried: &[Carried],
    spread: impl Fn(Vec<Descriptor>) -> Spread,
) {
    let node = &pe.node;
    if node.layout.nodes() == 1 {
        return;
    }
    pe.counters.encodes.add(1);
    let mut encoded = Vec::new();
    let told = arguments
        .encode_into(&mut encoded)
        .map_err(|error| error.to_string())
        .and_then(|()| carry::pass_on(node, &pe.counters, node.id, carried, spread, &encoded));
    if let Err(cause) = told {
        node.fail(JobError::Delivery { what: "a broadcast".to_owned(), pe: pe.id, node: node.id, cause });
    }
}

/// From the main PE: tells all nodes the readonly values, and that entries may run.
pub(crate) fn open_all(pe: &Pe) {
    let node = &pe.node;
    if node.layout.nodes() > 1 {
        let told = node.readonly.encode().map_err(|error| error.to_string()).and_then(|(values, carried)| {
            let spread = |nocopy| Spread::Readonly { nocopy };
            carry::pass_on(node, &pe.counters, node.id, &carried, spread, &values)
        });
        if let Err(cause) = told {
            node.fail(JobError::Config(format!("a readonly value cannot be sent: {cause}")));
        }
    }
    node.open();
}

/// Where a frame for all nodes came from.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    /// The node above this one.
    pub(crate) parent: NodeId,
    /// The node at the root of the tree.
    pub(crate) root: NodeId,
}

/// Takes what all nodes are told: the frame, its header, and what follows that.
///
/// # Errors
/// What does not fit this program or this job, in words.
pub(crate) fn accept(
    node: &Arc<Node>,
    origin: Origin,
    spread: Spread,
    frame: &[u8],
    rest: &[u8],
) -> Result<(), String> {
    let Origin { parent, root } = origin;
    if root.0 >= node.layout.nodes() {
        return Err(format!("a broadcast from {root}, which does not exist"));
    }
    let pass_on_for = |toll| node.post_to_children(&node.outside, root, frame, toll);
    let pass_on_as_it_is = || pass_on_for(None);
    match spread {
        Spread::Members(blueprint) => {
            pass_on_as_it_is();
            let chare = envelope::find_chare(blueprint.chare)?;
            // Whoever creates no elements gives no arguments.
            let arguments = if blueprint.elements.len() == 0 {
                Arguments::new(())
            } else {
                (chare.decode)(rest).map_err(|error| error.to_string())?
            };
            let info = CollectionInfo::new(*blueprint, chare, node.layout)
                .map_err(|cause| format!("{} cannot be created: {cause}", chare.name))?;
            let info = Arc::new(info);
            tell_pes(node, &CallOptions::new().expedited(), || Body::CreateMembers {
                info: Arc::clone(&info),
                arguments: arguments.clone(),
            });
        }
        Spread::Closing { collection, from, insertions } => {
            pass_on_as_it_is();
            for pe in node.pes() {
                let body = closing(collection, from, &insertions, pe);
                node.deliver_counted(pe, Envelope { options: CallOptions::new().expedited(), body });
            }
        }
        Spread::Broadcast { call, nocopy } => {
            let entry = envelope::find_entry(call.entry)?;
            envelope::check_count(nocopy.len(), entry)?;
            let toll = node.charge(parent, toll(frame.len(), lent_bytes(&nocopy)))?;
            let arguments = (entry.decode)(rest).map_err(|error| error.to_string())?;
            let arriving = Arriving { call, entry, arguments, toll };
            if !nocopy.is_empty() {
                return bring_call_in(node, origin, arriving, nocopy, rest);
            }
            pass_on_for(Some(toll.bytes));
            tell_members(node, &arriving, &[]);
        }
        Spread::Readonly { nocopy } => return bring_values_in(node, origin, nocopy, rest),
        Spread::Exit { code, error } => {
            pass_on_as_it_is();
            node.end(match error {
                Some(message) => Ending::Error(JobError::Elsewhere(message)),
                None => Ending::Code(code),
            });
        }
    }
    node.outside.processed.add_shared(1);
    Ok(())
}

/// A call of all members that has come from another node.
struct Arriving {
    call: CallOfAll,
    entry: &'static EntryRegistration,
    arguments: Arguments,
    toll: Toll,
}

/// A call of all members with nocopy arguments: told when this node has them.
fn bring_call_in(
    node: &Arc<Node>,
    Origin { parent, root }: Origin,
    arriving: Arriving,
    nocopy: Vec<Descriptor>,
    rest: &[u8],
) -> Result<(), String> {
    let encoded = rest.to_vec();
    let entry = arriving.entry;
    let kinds = entry.nocopy.iter().copied();
    let wanted =
        kinds.zip(nocopy).map(|(kind, descriptor)| Wanted { descriptor, kind, into: None }).collect();
    let what = move || entry.fetching();
    carry::bring_in(node, parent, what, wanted, move |node, carried| {
        let spread = |nocopy| Spread::Broadcast { call: arriving.call.clone(), nocopy };
        tell_children(node, root, &carried, spread, &encoded);
        tell_members(node, &arriving, &carried);
        node.outside.processed.add_shared(1);
    })
}

/// The readonly values: told, and entries may run, when this node has them.
fn bring_values_in(
    node: &Arc<Node>,
    Origin { parent, root }: Origin,
    nocopy: Vec<Descriptor>,
    rest: &[u8],
) -> Result<(), String> {
    if !node.readonly.begin() {
        return Err("readonly values for the second time".to_owned());
    }
    let (arriving, wanted) = readonly::Arriving::announced(rest, nocopy)?;
    let encoded = rest.to_vec();
    let what = || "fetching a readonly value".to_owned();
    carry::bring_in(node, parent, what, wanted, move |node, carried| {
        match node.readonly.accept(arriving, carried) {
            Ok(carried) => {
                tell_children(node, root, &carried, |nocopy| Spread::Readonly { nocopy }, &encoded);
                node.open();
            }
            Err(cause) => node.fail(JobError::Undecodable { peer: parent, node: node.id, cause }),
        }
        node.outside.processed.add_shared(1);
    })
}

fn tell_children(
    node: &Node,
    root: NodeId,
    carried: &[Carried],
    spread: impl Fn(Vec<Descriptor>) -> Spread,
    encoded: &[u8],
) {
    if let Err(cause) = carry::pass_on(node, &node.outside, root, carried, spread, encoded) {
        let (what, pe) = ("passing on a broadcast".to_owned(), node.layout.pe(node.id, 0));
        node.fail(JobError::Delivery { what, pe, node: node.id, cause });
    }
}

/// Leaves a call of all members with every PE of this node; each gives a part of its toll back.
fn tell_members(node: &Node, arriving: &Arriving, carried: &[Carried]) {
    let Arriving { call, entry, arguments, toll } = arriving;
    let nocopy: Vec<Leaving> = carried.iter().map(Carried::for_member).collect();
    for (pe, toll) in node.pes().zip(toll.split(node.layout.pes_per_node())) {
        node.outside.sent.add_shared(1);
        let body = Body::Broadcast(Box::new(Broadcast {
            collection: call.collection,
            entry,
            arguments: arguments.clone(),
            nocopy: nocopy.clone(),
            reference: call.reference,
        }));
        node.deliver(pe, Work::Message(Envelope { options: call.options.clone(), body }, toll));
    }
}

fn tell_pes(node: &Node, options: &CallOptions, body: impl Fn() -> Body) {
    for pe in node.pes() {
        node.deliver_counted(pe, Envelope { options: options.clone(), body: body() });
    }
}
