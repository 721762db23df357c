//! The one fork of a message's way out: this PE, another PE of this node, another node. `location -> **outbox** -> Lrts::send`

use crate::chain::{Sender, chain};
use crate::credit::{Toll, toll};
use crate::early;
use crate::envelope::{Body, Call, Envelope, Header, Insert};
use crate::error::JobError;
use crate::holding::hold_back;
use crate::ids::{NodeId, PeId, Target};
use crate::location::{Location, locate, recall};
use crate::mailbox::Work;
use crate::message::{Arguments, Message};
use crate::pe::Pe;
use crate::queue::CallOptions;
use crate::registry::EntryRegistration;
use crate::section;
use crate::zerocopy::{Nocopy, lent_bytes, send};

/// Sends a call to wherever its chare lives. `options` says how it is queued; `make` makes the call, in its place in the queue
/// if that is here; it must run no code of the user, who might send in turn.
#[inline]
pub(crate) fn send_call(pe: &Pe, options: &CallOptions, target: Target, make: impl FnOnce() -> Call) {
    let work = |call| Work::message(options.clone(), Body::Call(call));
    let to = recall(pe, target);
    if to == Some(pe.id) {
        pe.counters.sent.add(1);
        pe.queue.borrow_mut().push_made(options, || work(make()));
    } else if let Some(to) = to
        && let Some(rank) = pe.node.rank_here(to)
    {
        pe.counters.sent.add(1);
        leave(pe, to, rank, || work(make()));
    } else if let Some(to) = to {
        send_abroad(pe, to, options, make());
    } else {
        send_away(pe, options.clone(), make());
    }
}

/// Calls an entry of one chare, on behalf of this PE.
#[inline]
pub(crate) fn call<T: Message>(
    pe: &Pe,
    options: &CallOptions,
    (target, entry): (Target, &'static EntryRegistration),
    arguments: T,
    nocopy: Option<Box<Nocopy>>,
) {
    send_call(pe, options, target, || Call {
        target,
        from: pe.id,
        entry,
        arguments: Arguments::new(arguments),
        nocopy,
        reference: 0,
    });
}

/// Sends a call to a PE of another node. What most of them say is told at once: no message is made of it first.
fn send_abroad(pe: &Pe, to: PeId, options: &CallOptions, call: Call) {
    match describe_plain(pe, to, options, &call) {
        Some(header) if exists(pe, to) => {
            pe.counters.sent.add(1);
            post(pe, to, &header, Some(&call.arguments));
        }
        _ => send(pe, to, Envelope { options: options.clone(), body: Body::Call(call) }),
    }
}

fn send_away(pe: &Pe, options: CallOptions, call: Call) {
    match locate(pe, call.target) {
        Location::At(to) => send(pe, to, Envelope { options, body: Body::Call(call) }),
        Location::Unknown(awaited) => {
            pe.counters.sent.add(1);
            early::keep(pe, awaited, Envelope { options, body: Body::Call(call) });
        }
    }
}

/// Sends a message to a PE, and counts it.
pub(crate) fn send(pe: &Pe, to: PeId, envelope: Envelope) {
    if !matches!(envelope.body, Body::Quiescence(_)) {
        pe.counters.sent.add(1);
    }
    forward(pe, to, envelope);
}

/// Sends a message that was counted before.
pub(crate) fn forward(pe: &Pe, to: PeId, envelope: Envelope) {
    if to == pe.id {
        let options = envelope.options.clone();
        pe.queue.borrow_mut().push(&options, Work::Message(envelope, Toll::NONE));
    } else if let Some(rank) = pe.node.rank_here(to) {
        leave(pe, to, rank, || Work::Message(envelope, Toll::NONE));
    } else if exists(pe, to) {
        let (header, arguments) = describe(pe, to, envelope);
        post(pe, to, &header, arguments.as_ref());
    }
}

/// Whether the job has this PE. Ends it if not: whoever made the proxy or callback that leads there may be on another node.
fn exists(pe: &Pe, to: PeId) -> bool {
    let exists = to.0 < pe.node.layout.pes();
    if !exists {
        let cause = format!("there is no {to}: the job has {} PEs", pe.node.layout.pes());
        let what = "sending a message".to_owned();
        pe.node.fail(JobError::Delivery { what, pe: pe.id, node: pe.node.id, cause });
    }
    exists
}

/// Sends a message to a PE of another node, and waits if too much is held back for that.
fn post(pe: &Pe, to: PeId, header: &Header, arguments: Option<&Arguments>) {
    if arguments.is_some() {
        pe.counters.encodes.add(1);
    }
    match pe.node.pack(header, arguments, pe.frame.take()) {
        Ok(packed) => {
            let lent = match header {
                Header::Call { nocopy, .. } | Header::Multicast { nocopy, .. } => lent_bytes(nocopy),
                _ => 0,
            };
            let toll = toll(packed.len(), lent);
            pe.counters.bytes.add(packed.len() as u64);
            let peer = pe.node.layout.node_of(to);
            let mut used = pe.node.post_packed(peer, packed, Some(toll));
            used.clear();
            pe.frame.set(used);
            hold_back(&pe.node, peer);
        }
        Err(cause) => {
            let what = header.describe();
            pe.node.fail(JobError::Delivery { what, pe: pe.id, node: pe.node.id, cause });
        }
    }
}

/// Leaves what `make` makes for another PE of this node, in the chain to it.
#[inline]
fn leave(pe: &Pe, to: PeId, rank: usize, make: impl FnOnce() -> Work) {
    pe.ways_out.borrow_mut()[rank].get_or_insert_with(|| open_way(pe, to)).send(make());
    pe.node.wake(rank);
}

#[cold]
fn open_way(pe: &Pe, to: PeId) -> Sender<Work> {
    let (sender, receiver) = chain();
    pe.node.deliver(to, Work::Way(receiver));
    sender
}

/// What another node is told of a message, and the arguments that it is told after that.
fn describe(pe: &Pe, to: PeId, envelope: Envelope) -> (Header, Option<Arguments>) {
    let options = envelope.options;
    match envelope.body {
        Body::Call(call) => {
            let (header, arguments) = describe_call(pe, to, options, call);
            (header, Some(arguments))
        }
        Body::Create(create) => {
            (Header::Create { id: create.id, chare: create.chare.id, options }, Some(create.arguments))
        }
        Body::Insert(insert) => {
            let Insert { order, chare, arguments } = *insert;
            (Header::Insert { to, order, chare: chare.id, options }, Some(arguments))
        }
        Body::Resolve { future, value } => (Header::Resolve { future }, Some(value)),
        Body::Broken { future, cause } => (Header::Broken { future, cause }, None),
        Body::Contribution { collection, partial } => {
            (Header::Contribution { to, collection, partial: *partial }, None)
        }
        Body::Quiescence(wave) => (Header::Quiescence { to, wave: *wave }, None),
        Body::Section(message) => (Header::Section { to, message: *message }, None),
        Body::SectionCall(call) => {
            let (header, arguments) = section::describe_call(&pe.node, options, *call);
            (header, Some(arguments))
        }
        Body::Multicast(multicast) => {
            let (header, arguments) = section::describe_multicast(&pe.node, to, options, *multicast);
            (header, Some(arguments))
        }
        Body::News(news) => (Header::News { to, news: *news }, None),
        Body::CreateMembers { .. }
        | Body::Broadcast(_)
        | Body::DoneInserting(_)
        | Body::Closing { .. }
        | Body::Callback(_) => {
            unreachable!("these are spread over nodes or stay on theirs, they are never sent to another")
        }
    }
}

/// A call that needs no more than the least to be described.
#[inline]
fn describe_plain(pe: &Pe, to: PeId, options: &CallOptions, call: &Call) -> Option<Header> {
    // The rank of a caller of this node; the receiver knows which node that is.
    let from_rank = u16::try_from(pe.node.rank_here(call.from)?).ok()?;
    let is_plain = call.nocopy.is_none() && call.reference == 0 && *options == call.entry.options;
    is_plain.then(|| Header::PlainCall { to, target: call.target, entry: call.entry.id, from_rank })
}

fn describe_call(pe: &Pe, to: PeId, options: CallOptions, call: Call) -> (Header, Arguments) {
    if let Some(header) = describe_plain(pe, to, &options, &call) {
        return (header, call.arguments);
    }
    let Call { target, from, entry, arguments, nocopy, reference } = call;
    let nocopy = match nocopy.map(|nocopy| *nocopy) {
        None => Vec::new(),
        Some(Nocopy::Leaving(leaving)) => {
            send::describe(&pe.node, pe.node.layout.node_of(to), entry.nocopy, leaving)
        }
        Some(Nocopy::Described(descriptors)) => descriptors,
        Some(Nocopy::Arrived(_)) => unreachable!("arrived arguments are where they belong"),
    };
    (Header::Call { to, from, target, entry: entry.id, options, reference, nocopy }, arguments)
}

/// The first PE of a node: where a node's share of collective work is done.
pub(crate) fn first_pe(pe: &Pe, node: NodeId) -> PeId {
    pe.node.layout.pe(node, 0)
}
