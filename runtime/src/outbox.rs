//! The one fork of a message's way out: this PE, another PE of this node, another node. `location -> **outbox** -> Lrts::send`

use crate::envelope::{Body, Broadcast, Call, CallOfAll, Envelope, Header, Packed, Spread};
use crate::error::JobError;
use crate::ids::{NodeId, PeId};
use crate::location::{Location, locate};
use crate::mailbox::Work;
use crate::message::Arguments;
use crate::pe::Pe;
use crate::queue::CallOptions;
use crate::zerocopy::broadcast::{self, Carried};
use crate::zerocopy::{Descriptor, Nocopy, send};

/// Sends a call to wherever its chare lives.
pub(crate) fn send_call(pe: &Pe, options: CallOptions, call: Call) {
    match locate(pe, call.target) {
        Location::At(to) => send(pe, to, Envelope { options, body: Body::Call(call) }),
        Location::Unknown(awaited) => {
            pe.counters().sent.add(1);
            let envelope = Envelope { options, body: Body::Call(call) };
            pe.early.borrow_mut().entry(awaited).or_default().push(envelope);
        }
        Location::Nowhere(cause) => pe.node.fail(JobError::Delivery {
            what: format!("a call of {}::{}", call.entry.chare, call.entry.name),
            pe: pe.id,
            node: pe.node.id,
            cause,
        }),
    }
}

/// Sends a message to a PE, and counts it.
pub(crate) fn send(pe: &Pe, to: PeId, envelope: Envelope) {
    if !matches!(envelope.body, Body::Quiescence(_)) {
        pe.counters().sent.add(1);
    }
    forward(pe, to, envelope);
}

/// Sends a message that was counted before.
pub(crate) fn forward(pe: &Pe, to: PeId, envelope: Envelope) {
    if to == pe.id {
        let options = envelope.options.clone();
        pe.queue.borrow_mut().push(&options, Work::Message(envelope));
    } else if pe.node.is_here(to) {
        pe.node.deliver(to, Work::Message(envelope));
    } else {
        match pack(pe, to, envelope) {
            Ok(packed) => pe.node.post_packed(pe.counters(), pe.node.layout.node_of(to), packed),
            Err(error) => pe.node.fail(error),
        }
    }
}

fn pack(pe: &Pe, to: PeId, envelope: Envelope) -> Result<Packed, JobError> {
    let failed = |what: String, cause| JobError::Delivery { what, pe: pe.id, node: pe.node.id, cause };
    let options = envelope.options;
    let (header, arguments, what) = match envelope.body {
        Body::Call(call) => {
            let what = format!("sending a call of {}::{}", call.entry.chare, call.entry.name);
            let nocopy = match call.nocopy.map(|nocopy| *nocopy) {
                None => Vec::new(),
                Some(Nocopy::Leaving(leaving)) => {
                    let peer = pe.node.layout.node_of(to);
                    send::describe(&pe.node, peer, call.entry.nocopy, leaving)
                        .map_err(|cause| failed(what.clone(), cause))?
                }
                Some(Nocopy::Described(descriptors)) => descriptors,
                Some(Nocopy::Arrived(_)) => unreachable!("arrived arguments are where they belong"),
            };
            let Call { target, entry, arguments, reference, .. } = call;
            (Header::Call { to, target, entry: entry.id, options, reference, nocopy }, Some(arguments), what)
        }
        Body::Create(create) => {
            let header = Header::Create { id: create.id, chare: create.chare.id, options };
            (header, Some(create.arguments), format!("creating {}", create.chare.name))
        }
        Body::Resolve { future, value } => {
            (Header::Resolve { future }, Some(value), "resolving a future".to_owned())
        }
        Body::Contribution(partial) => {
            let what = "a reduction".to_owned();
            let partial = partial.encode().map_err(|error| failed(what.clone(), error.to_string()))?;
            (Header::Contribution { to, partial }, None, what)
        }
        Body::Quiescence(wave) => {
            (Header::Quiescence { to, wave: *wave }, None, "quiescence detection".to_owned())
        }
        Body::CreateMembers { .. } | Body::Broadcast(_) | Body::Callback(_) => {
            unreachable!("these are spread over nodes or stay on theirs, they are never sent to another")
        }
    };
    if arguments.is_some() {
        pe.counters().encodes.add(1);
    }
    pe.node.pack(&header, arguments.as_ref()).map_err(|cause| failed(what, cause))
}

/// Calls an entry of every member of a collection. Nocopy arguments go down the tree by [`broadcast::pass_on`], and the members
/// here read the caller's memory.
pub(crate) fn broadcast(pe: &Pe, options: CallOptions, broadcast: Broadcast) {
    let Broadcast { collection, entry, ref nocopy, reference, .. } = broadcast;
    let call = CallOfAll { collection, entry: entry.id, options, reference };
    let carried: Vec<Carried> = nocopy.iter().cloned().map(Carried::sent).collect();
    let spread_call = |nocopy| Spread::Broadcast { call: call.clone(), nocopy };
    spread(pe, &broadcast.arguments, &carried, spread_call);
    for to in pe.node.pes() {
        let body = Body::Broadcast(Box::new(broadcast.clone()));
        send(pe, to, Envelope { options: call.options.clone(), body });
    }
}

/// Sends to all other nodes, down the tree below this one.
pub(crate) fn spread(
    pe: &Pe,
    arguments: &Arguments,
    carried: &[Carried],
    spread: impl Fn(Vec<Descriptor>) -> Spread,
) {
    let node = &pe.node;
    if node.layout.nodes() == 1 {
        return;
    }
    pe.counters().encodes.add(1);
    let mut encoded = Vec::new();
    let sent = arguments
        .encode_into(&mut encoded)
        .map_err(|error| error.to_string())
        .and_then(|()| broadcast::pass_on(node, pe.counters(), node.id, carried, spread, &encoded));
    match sent {
        Ok(children) => pe.counters().sent.add(children),
        Err(cause) => {
            node.fail(JobError::Delivery { what: "a broadcast".to_owned(), pe: pe.id, node: node.id, cause });
        }
    }
}

/// The first PE of a node: where a node's share of collective work is done.
pub(crate) fn first_pe(pe: &Pe, node: NodeId) -> PeId {
    pe.node.layout.pe(node, 0)
}
