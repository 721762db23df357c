//! The one fork of a message's way out: this PE, another PE of this node, another node. `location -> **outbox** -> Lrts::send`

use crate::aggregation::Bundle;
use crate::call::Call;
use crate::chain::chain;
use crate::codec::{CodecError, Writer};
use crate::credit::{Toll, toll};
use crate::early;
use crate::envelope::{self, Body, Envelope, Header, Insert, Packed};
use crate::error::JobError;
use crate::holding::hold_back;
use crate::ids::{NodeId, PeId, Target};
use crate::location::{Location, Recalled, locate};
use crate::mailbox::{Queued, Sender, Work};
use crate::message::{Arguments, Message};
use crate::pe::Pe;
use crate::plain_call::PlainCall;
use crate::queue::CallOptions;
use crate::registry::EntryRegistration;
use crate::section::calls;
use crate::zerocopy::{Descriptor, Nocopy, lent_bytes, send};
use std::hint::cold_path;

/// Calls an entry of one chare, on behalf of this PE. The target is read where it lies: a copy is written 16 bytes at a time, and an index that is
/// read back across two such pieces makes the processor wait for both, a fifth of a call on the same PE.
#[inline]
pub(crate) fn call<T: Message>(
    pe: &Pe,
    options: &CallOptions,
    (target, entry): (&Target, &'static EntryRegistration),
    arguments: T,
    nocopy: Option<Box<Nocopy>>,
) {
    let is_plain = options.is_default() && nocopy.as_deref().is_none_or(|nocopy| nocopy.is_ready(entry));
    let make = || {
        let arguments = Arguments::new(arguments);
        Call { target: *target, from: pe.id, entry, arguments, nocopy, reference: 0 }
    };
    if is_plain {
        send_plain_call(pe, target, make);
    } else {
        cold_path();
        send_call(pe, options, target, make);
    }
}

/// Sends a call that is queued by default and [is plain](Call::is_plain), which nearly all are: where the chare is here, it goes into the
/// queue with it. `make` makes the call in its place there; it must run no code of the user, who might send in turn.
#[inline]
fn send_plain_call(pe: &Pe, target: &Target, make: impl FnOnce() -> Call) {
    let recalled = pe.places.borrow().recall(target);
    match recalled {
        Recalled::Here(chare) => {
            pe.counters.sent.add(1);
            pe.queue.borrow_mut().push_found(chare, Toll::NONE, make);
        }
        elsewhere => send_recalled(pe, &CallOptions::new(), elsewhere, make),
    }
}

/// Sends a call to wherever its chare lives. `options` says how it is queued; of `make` [`send_plain_call`] says more.
#[inline]
pub(crate) fn send_call(pe: &Pe, options: &CallOptions, target: &Target, make: impl FnOnce() -> Call) {
    let recalled = pe.places.borrow().recall(target);
    send_recalled(pe, options, recalled, make);
}

#[inline]
fn send_recalled(pe: &Pe, options: &CallOptions, recalled: Recalled, make: impl FnOnce() -> Call) {
    match recalled {
        Recalled::Here(_) => {
            pe.counters.sent.add(1);
            let work = || Work::message(options.clone(), Body::Call(make()));
            pe.queue.borrow_mut().push_made(options, || Queued::Work(work()));
        }
        Recalled::On(to) if to == pe.id => send_away(pe, options.clone(), make()),
        Recalled::On(to) => match pe.node.rank_here(to) {
            Some(rank) => {
                pe.counters.sent.add(1);
                leave(pe, to, rank, |way| way.send_call(options, make()));
            }
            None => send_abroad(pe, to, options, make()),
        },
        Recalled::Nothing => send_unremembered(pe, options, make()),
    }
}

/// Sends a call of a chare that was not called lately.
fn send_unremembered(pe: &Pe, options: &CallOptions, call: Call) {
    let is_plain = options.is_default() && call.is_plain();
    let chare = if is_plain { pe.places.borrow_mut().find(call.target) } else { None };
    match chare {
        Some(chare) => {
            pe.counters.sent.add(1);
            pe.queue.borrow_mut().push_found(chare, Toll::NONE, || call);
        }
        None => send_away(pe, options.clone(), call),
    }
}

/// Sends a call to a PE of another node. What most of them say is told at once: no message is made of it first.
fn send_abroad(pe: &Pe, to: PeId, options: &CallOptions, call: Call) {
    match PlainCall::describe(&pe.node, to, options, &call) {
        Some(block) if exists(pe, to) => {
            let Call { entry, arguments, nocopy, .. } = call;
            let descriptors = nocopy.map(|nocopy| describe_nocopy(pe, to, entry, *nocopy));
            pe.counters.sent.add(1);
            pe.counters.encodes.add(1);
            let lent = descriptors.as_deref().map_or(0, lent_bytes);
            let write = |to: &mut Writer<'_>| block.write(to, descriptors.as_deref(), &arguments);
            let packed = pack(pe, write, || format!("a call of {}::{}", entry.chare, entry.name));
            drop(descriptors);
            post(pe, to, lent, packed);
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
        pe.queue.borrow_mut().push_work(Work::Message(envelope, Toll::NONE));
    } else if let Some(rank) = pe.node.rank_here(to) {
        leave(pe, to, rank, |way| way.send_long(envelope));
    } else if exists(pe, to) {
        let (header, arguments) = describe(pe, to, envelope);
        post_header(pe, to, header, arguments.as_ref());
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

/// Sends a message to a PE of another node.
fn post_header(pe: &Pe, to: PeId, header: Header, arguments: Option<&Arguments>) {
    if arguments.is_some() {
        pe.counters.encodes.add(1);
    }
    let lent = match &header {
        Header::Call { nocopy, .. } | Header::Multicast { nocopy, .. } => lent_bytes(nocopy),
        _ => 0,
    };
    let packed = pack(pe, |to| envelope::write(to, &header, arguments), || header.describe());
    drop(header);
    post(pe, to, lent, packed);
}

/// Packs what `write` writes and `describe` names; `None` when that ended the job. Memory that was written is let go of before the message
/// is posted: the answer that hands it back may be quicker than this PE.
#[inline]
fn pack(
    pe: &Pe,
    write: impl FnMut(&mut Writer<'_>) -> Result<(), CodecError>,
    describe: impl FnOnce() -> String,
) -> Option<Packed> {
    let packed = pe.node.pack(write, pe.frame.take());
    let fail = |cause| {
        let what = describe();
        pe.node.fail(JobError::Delivery { what, pe: pe.id, node: pe.node.id, cause });
    };
    packed.map_err(fail).ok()
}

/// Sends what was packed to a PE of another node, with so much lent memory; waits if too much is held back for that.
#[inline]
fn post(pe: &Pe, to: PeId, lent_bytes: u64, packed: Option<Packed>) {
    let Some(packed) = packed else { return };
    let toll = toll(packed.len(), lent_bytes);
    pe.counters.bytes.add(packed.len() as u64);
    let peer = pe.node.layout.node_of(to);
    let mut used = pe.node.post_packed(peer, packed, Some(toll));
    used.clear();
    pe.frame.set(used);
    hold_back(&pe.node, peer);
}

/// Leaves something for another PE of this node, in the chain to it.
#[inline]
fn leave(pe: &Pe, to: PeId, rank: usize, send: impl FnOnce(&mut Sender)) {
    send(pe.ways_out.borrow_mut()[rank].get_or_insert_with(|| open_way(pe, to)));
    pe.node.wake(rank);
}

#[cold]
fn open_way(pe: &Pe, to: PeId) -> Sender {
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
        Body::Bundle(bundle) => {
            let Bundle { collection, entry, from, items } = *bundle;
            (Header::Bundle { to, from, collection, entry: entry.id }, Some(items))
        }
        Body::Resolve { future, value } => (Header::Resolve { future }, Some(value)),
        Body::Broken { future, cause } => (Header::Broken { future, cause }, None),
        Body::Contribution { collection, partial } => {
            (Header::Contribution { to, collection, partial: *partial }, None)
        }
        Body::Quiescence(wave) => (Header::Quiescence { to, wave: *wave }, None),
        Body::Section(message) => (Header::Section { to, message: *message }, None),
        Body::SectionCall(call) => {
            let (header, arguments) = calls::describe_call(&pe.node, options, *call);
            (header, Some(arguments))
        }
        Body::Multicast(multicast) => {
            let (header, arguments) = calls::describe_multicast(&pe.node, to, options, *multicast);
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

fn describe_call(pe: &Pe, to: PeId, options: CallOptions, call: Call) -> (Header, Arguments) {
    let Call { target, from, entry, arguments, nocopy, reference } = call;
    let nocopy = nocopy.map_or_else(Vec::new, |nocopy| describe_nocopy(pe, to, entry, *nocopy));
    (Header::Call { to, from, target, entry: entry.id, options, reference, nocopy }, arguments)
}

/// What another node is told of a call's nocopy arguments. Out of line: calls without need not make room for it.
#[inline(never)]
fn describe_nocopy(pe: &Pe, to: PeId, entry: &EntryRegistration, nocopy: Nocopy) -> Vec<Descriptor> {
    send::describe(&pe.node, pe.node.layout.node_of(to), entry.nocopy, nocopy)
}

/// The first PE of a node: where a node's share of collective work is done.
pub(crate) fn first_pe(pe: &Pe, node: NodeId) -> PeId {
    pe.node.layout.pe(node, 0)
}
