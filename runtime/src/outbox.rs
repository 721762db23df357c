//! The one fork of a message's way out: this PE, another PE of this node, another node. `location -> **outbox** -> Lrts::send`

use crate::envelope::{self, Body, Broadcast, Call, Envelope, Header, Spread};
use crate::error::JobError;
use crate::ids::{NodeId, PeId};
use crate::location::{Location, locate};
use crate::mailbox::Work;
use crate::pe::Pe;
use crate::queue::CallOptions;
use crate::zerocopy::{Nocopy, send};

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
        match encode(pe, to, envelope) {
            Ok(bytes) => pe.node.post(pe.counters(), pe.node.layout.node_of(to), bytes),
            Err(error) => pe.node.fail(error),
        }
    }
}

fn encode(pe: &Pe, to: PeId, envelope: Envelope) -> Result<Vec<u8>, JobError> {
    let failed = |what: String, cause| JobError::Delivery { what, pe: pe.id, node: pe.node.id, cause };
    let options = envelope.options;
    let (header, arguments, what) = match envelope.body {
        Body::Call(call) => {
            let what = format!("sending a call of {}::{}", call.entry.chare, call.entry.name);
            let nocopy = match call.nocopy.map(|nocopy| *nocopy) {
                None => Vec::new(),
                Some(Nocopy::Leaving(leaving)) => {
                    send::describe(&pe.node, leaving).map_err(|cause| failed(what.clone(), cause))?
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
    let bytes = envelope::encode(&header, arguments.as_ref()).map_err(|cause| failed(what, cause))?;
    Ok(bytes)
}

/// Calls an entry of every member of a collection.
pub(crate) fn broadcast(pe: &Pe, options: CallOptions, broadcast: Broadcast) {
    let Broadcast { collection, entry, reference, .. } = broadcast;
    spread(pe, &broadcast.arguments, || Spread::Broadcast {
        collection,
        entry: entry.id,
        options: options.clone(),
        reference,
    });
    for to in pe.node.pes() {
        let arguments = broadcast.arguments.clone();
        let own = Broadcast { collection, entry, arguments, nocopy: Vec::new(), reference };
        send(pe, to, Envelope { options: options.clone(), body: Body::Broadcast(Box::new(own)) });
    }
}

/// Sends to all other nodes, down the tree below this one.
pub(crate) fn spread(pe: &Pe, arguments: &crate::message::Arguments, spread: impl FnOnce() -> Spread) {
    let node = &pe.node;
    if node.layout.nodes() == 1 {
        return;
    }
    pe.counters().encodes.add(1);
    match envelope::encode(&Header::Spread { root: node.id, spread: spread() }, Some(arguments)) {
        Ok(bytes) => {
            let children = node.post_to_children(pe.counters(), node.id, &bytes);
            pe.counters().sent.add(children);
        }
        Err(cause) => {
            node.fail(JobError::Delivery { what: "a broadcast".to_owned(), pe: pe.id, node: node.id, cause });
        }
    }
}

/// The first PE of a node: where a node's share of collective work is done.
pub(crate) fn first_pe(pe: &Pe, node: NodeId) -> PeId {
    pe.node.layout.pe(node, 0)
}
