//! Outbox of a PE, the one fork of a message's way out: to this PE, to another PE of this node, or to another node.
//! `api/proxy -> delivery/zerocopy -> model/envelope -> pe/places -> **delivery/outbox** -> node/posting -> lrts`

use super::zerocopy::describing;
use super::zerocopy::device;
use crate::model::arguments::{Arguments, Message};
use crate::model::call_options::{CallOptions, MessageName};
use crate::model::envelope::frame::{self, Header, Packed};
use crate::model::envelope::{Body, Call, Envelope, PlainCall, SystemMessage};
use crate::model::error::JobError;
use crate::model::ids::{PeId, Target};
use crate::model::nocopy::{Descriptor, Few, Nocopy, lent_bytes};
use crate::model::registry::EntryRegistration;
use crate::node::Node;
use crate::node::backpressure::{hold_back, wait_for_room};
use crate::node::credit::{Cost, cost_of};
use crate::node::mailbox::Work;
use crate::node::way::{self, Sender};
use crate::pe::Pe;
use crate::pe::places::{Location, Recalled};
use crate::pe::queued::Queued;
use chare_lrts::codec::{CodecError, Writer};
use std::hint::cold_path;
use std::sync::Arc;

/// Calls an entry of one chare, on behalf of this PE. Reads the target where it lies: a copy is written 16 bytes at a time, and reading
/// an index back across two such pieces makes the processor wait for both, a fifth of a call on the same PE.
#[inline]
pub(crate) fn call<T: Message>(
    pe: &Pe,
    options: &CallOptions,
    (target, entry): (&Target, &'static EntryRegistration),
    arguments: T,
    nocopy: Option<Box<Nocopy>>,
) {
    let is_plain = options.is_default();
    let make = || {
        let arguments = Arguments::new(arguments);
        Call { target: *target, from: pe.id, entry, arguments, nocopy, reference: 0 }
    };
    let within = match target {
        Target::Member(collection, _) => pe.within(*collection),
        Target::Chare(_) => None,
    };
    match within {
        None if is_plain => send_plain_call(pe, target, make),
        None => {
            cold_path();
            send_call(pe, options, target, make);
        }
        Some(broadcast) => {
            cold_path();
            send_call(pe, &options.clone().part_of(broadcast), target, make);
        }
    }
}

/// Sends a call that is queued by default and [is plain](Call::is_plain), as nearly all calls are: if the chare lives here, the call goes
/// into the run queue together with it. `make` makes the call in its place in the queue; it must run no code of the user, which might
/// send in turn.
#[inline]
fn send_plain_call(pe: &Pe, target: &Target, make: impl FnOnce() -> Call) {
    let recalled = pe.places.borrow().recall(target);
    match recalled {
        Recalled::Here(chare) => {
            pe.counters.sent.add(1);
            pe.queue.borrow_mut().push_found(chare, Cost::NONE, make);
        }
        elsewhere => send_recalled(pe, &CallOptions::new(), elsewhere, make),
    }
}

/// Sends a call to the PE on which its chare lives. `options` says how the call is queued; for the rule about `make` see
/// [`send_plain_call`].
#[inline]
pub(crate) fn send_call(pe: &Pe, options: &CallOptions, target: &Target, make: impl FnOnce() -> Call) {
    if let Err(cause) = options.check_not_counted() {
        return pe.fail("a call of one chare".to_owned(), cause);
    }
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
        Recalled::On(to) if pe.has_timeline() => {
            cold_path();
            send(pe, to, Envelope { options: options.clone(), body: Body::Call(make()) });
        }
        Recalled::On(to) => match pe.node.rank_here(to) {
            Some(rank) => {
                pe.counters.sent.add(1);
                push_to(pe, to, rank, |way| way.send_call(options, make()));
            }
            None => send_to_node(pe, to, options, make()),
        },
        Recalled::Nothing => send_unremembered(pe, options, make()),
    }
}

/// Sends a call of a chare whose place is not remembered.
fn send_unremembered(pe: &Pe, options: &CallOptions, call: Call) {
    let is_plain = options.is_default() && call.is_plain();
    let chare = if is_plain { pe.places.borrow_mut().find(call.target) } else { None };
    match chare {
        Some(chare) => {
            pe.counters.sent.add(1);
            pe.queue.borrow_mut().push_found(chare, Cost::NONE, || call);
        }
        None => send_away(pe, options.clone(), call),
    }
}

/// Sends a call to a PE of another node. Most calls are written into a frame at once, without making a message of them first.
fn send_to_node(pe: &Pe, to: PeId, options: &CallOptions, call: Call) {
    match PlainCall::describe(pe.node.rank_here(call.from), to, options, &call) {
        Some(block) if !call.sends_of_devices() && exists(pe, to) => {
            let Call { entry, arguments, nocopy, .. } = call;
            match nocopy {
                None => {
                    let packed = pack_plain(pe, entry, |out| block.write(out, None, &arguments));
                    post(pe, to, 0, packed);
                }
                Some(nocopy) => send_described(pe, to, (entry, &block), *nocopy, &arguments),
            }
        }
        _ => send(pe, to, Envelope { options: options.clone(), body: Body::Call(call) }),
    }
}

/// Sends a plain call with nocopy arguments to a PE of another node. Out of line: calls without need not make room for it.
#[inline(never)]
fn send_described(
    pe: &Pe,
    to: PeId,
    (entry, block): (&EntryRegistration, &PlainCall),
    nocopy: Nocopy,
    arguments: &Arguments,
) {
    let descriptors = describe_nocopy(pe, to, entry, nocopy);
    let lent = lent_bytes(&descriptors);
    let packed = pack_plain(pe, entry, |out| block.write(out, Some(&descriptors), arguments));
    drop(descriptors);
    post(pe, to, lent, packed);
}

/// Counts and packs a plain call of an entry.
#[inline(always)]
fn pack_plain(
    pe: &Pe,
    entry: &EntryRegistration,
    write: impl FnMut(&mut Writer<'_>) -> Result<(), CodecError>,
) -> Option<Packed> {
    pe.counters.sent.add(1);
    pe.counters.encodes.add(1);
    pack(pe, write, || format!("a call of {}::{}", entry.chare, entry.name))
}

fn send_away(pe: &Pe, options: CallOptions, call: Call) {
    match pe.locate(call.target) {
        Location::At(to) => send(pe, to, Envelope { options, body: Body::Call(call) }),
        Location::Unknown(missing) => {
            pe.counters.sent.add(1);
            pe.keep(missing, options, Body::Call(call));
        }
    }
}

/// Sends a message to a PE, and counts it.
pub(crate) fn send(pe: &Pe, to: PeId, envelope: Envelope) {
    if !matches!(&envelope.body, Body::System(message) if !message.is_counted()) {
        pe.counters.sent.add(1);
    }
    forward(pe, to, envelope);
}

/// Sends a message that was counted before.
pub(crate) fn forward(pe: &Pe, to: PeId, mut envelope: Envelope) {
    if to == pe.id {
        return pe.queue.borrow_mut().push_work(Work::Message(envelope, Cost::NONE));
    }
    pe.depart(to, &mut envelope.options);
    if let Some(rank) = pe.node.rank_here(to) {
        push_to(pe, to, rank, |way| way.send(envelope));
    } else if exists(pe, to) {
        post_envelope(pe, to, envelope);
    }
}

/// Whether the job has this PE. Ends the job if not: the proxy or callback that leads there may have been made on another node.
fn exists(pe: &Pe, to: PeId) -> bool {
    let exists = to.0 < pe.node.topology.pes();
    if !exists {
        let cause = format!("there is no {to}: the job has {} PEs", pe.node.topology.pes());
        pe.fail("sending a message".to_owned(), cause);
    }
    exists
}

/// Sends a message to a PE of another node.
fn post_envelope(pe: &Pe, to: PeId, Envelope { options, body }: Envelope) {
    match body {
        Body::Call(call) => {
            let Some(call) = device::set_aside(&pe.node, to, &options, call, post_staged) else { return };
            let Call { target, from, entry, arguments, nocopy, reference } = call;
            let nocopy =
                nocopy.map_or_else(Few::new, |nocopy| describe_nocopy(pe, to, entry, *nocopy)).into_vec();
            let lent = lent_bytes(&nocopy);
            let header = Header::Call { to, from, target, entry: entry.id, options, reference, nocopy };
            post_header(pe, to, lent, header, Some(&arguments));
        }
        Body::Create(create) => {
            let header = Header::Create { id: create.id, chare: create.chare.id, options };
            post_header(pe, to, 0, header, Some(&create.arguments));
        }
        Body::Resolve { future, value } => {
            let name = options.message_name();
            post_header(pe, to, 0, Header::Resolve { future, name }, Some(&value));
        }
        Body::Broken { future, cause } => {
            let name = options.message_name();
            post_header(pe, to, 0, Header::Broken { future, cause, name }, None);
        }
        Body::System(message) => post_system(pe, to, message, options.message_name()),
        Body::Callback(_) => unreachable!("it stays on its node"),
    }
}

/// Sends a call that was counted before, whose device arguments were brought to the host first; off the PE that called.
fn post_staged(node: &Arc<Node>, to: PeId, options: CallOptions, call: Call) {
    let Call { target, from, entry, arguments, nocopy, reference } = call;
    let peer = node.topology.node_of(to);
    let nocopy = nocopy
        .map_or_else(Few::new, |nocopy| describing::describe(node, peer, entry.nocopy, *nocopy))
        .into_vec();
    let lent = lent_bytes(&nocopy);
    let header = Header::Call { to, from, target, entry: entry.id, options, reference, nocopy };
    let what = header.describe();
    node.outside.encodes.add_shared(1);
    let encoded = frame::encode(&header, Some(&arguments));
    // Pinned memory is let go of before the message leaves.
    drop(header);
    match encoded {
        Ok(frame) => {
            let cost = cost_of(frame.len(), lent);
            node.post_for(&node.outside, peer, frame, Some(cost));
        }
        Err(cause) => node.fail(JobError::Delivery { what, pe: from, node: node.id, cause }),
    }
}

fn post_header(pe: &Pe, to: PeId, lent_bytes: u64, header: Header, arguments: Option<&Arguments>) {
    if arguments.is_some() {
        pe.counters.encodes.add(1);
    }
    let packed = pack(pe, |out| frame::write(out, &header, arguments), || header.describe());
    drop(header);
    post(pe, to, lent_bytes, packed);
}

fn post_system(pe: &Pe, to: PeId, message: Box<dyn SystemMessage>, name: Option<MessageName>) {
    if message.has_arguments() {
        pe.counters.encodes.add(1);
    }
    let lent_bytes = message.lent_bytes();
    let write = |out: &mut Writer<'_>| {
        frame::write_system(out, (message.service(), name), |out| message.write(to, out))
    };
    let packed = pack(pe, write, || message.describe());
    drop(message);
    post(pe, to, lent_bytes, packed);
}

/// Packs the message that `write` writes and `describe` names; `None` when its arguments refused to be encoded, which has ended the job.
/// Memory that was written is let go of before the message is posted: the answer that hands it back may be quicker than this PE.
#[inline]
fn pack(
    pe: &Pe,
    write: impl FnMut(&mut Writer<'_>) -> Result<(), CodecError>,
    describe: impl FnOnce() -> String,
) -> Option<Packed> {
    let packed = pe.node.pack(write, pe.frame.take());
    packed.map_err(|cause| pe.fail(describe(), cause)).ok()
}

/// Sends a packed message, which lends so many bytes, to a PE of another node; waits if too much is withheld from that node.
#[inline]
fn post(pe: &Pe, to: PeId, lent_bytes: u64, packed: Option<Packed>) {
    let Some(packed) = packed else { return };
    let cost = cost_of(packed.len(), lent_bytes);
    pe.counters.bytes.add(packed.len() as u64);
    let peer = pe.node.topology.node_of(to);
    let mut used = pe.node.post_packed(peer, packed, Some(cost));
    used.clear();
    pe.frame.set(used);
    hold_back(&pe.node, peer);
}

/// Leaves a message for another PE of this node, on the way between the two, and wakes that PE. Waits if too many wait there and their
/// number has a bound.
#[inline]
fn push_to(pe: &Pe, to: PeId, rank: usize, send: impl FnOnce(&mut Sender) -> bool) {
    let is_full = send(pe.ways_out.borrow_mut()[rank].get_or_insert_with(|| open_way(pe, to)));
    pe.node.wake(rank);
    if is_full {
        cold_path();
        await_room(pe, rank);
    }
}

fn await_room(pe: &Pe, rank: usize) {
    let here = pe.node.topology.rank_of(pe.id);
    let is_crowded = || pe.ways_out.borrow()[rank].as_ref().is_some_and(Sender::is_crowded);
    if !wait_for_room(&pe.node, (here, rank), is_crowded)
        && let Some(way) = &mut pe.ways_out.borrow_mut()[rank]
    {
        way.enlarge();
    }
}

#[cold]
fn open_way(pe: &Pe, to: PeId) -> Sender {
    let (sender, receiver) = way::open(pe.node.mailbox_bound);
    pe.node.deliver(to, Work::Way(receiver));
    sender
}

/// Descriptors of a call's nocopy arguments, for another node.
fn describe_nocopy(pe: &Pe, to: PeId, entry: &EntryRegistration, nocopy: Nocopy) -> Few<Descriptor> {
    describing::describe(&pe.node, pe.node.topology.node_of(to), entry.nocopy, nocopy)
}
