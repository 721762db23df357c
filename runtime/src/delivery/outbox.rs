//! Outbox of a PE, the one fork of a message's way out: to this PE, to another PE of this node, or to another node.
//! `api/proxy -> transfer -> model/envelope -> pe/places -> **delivery/outbox** -> delivery/outbound -> node/posting -> lrts`
//!
//! What goes to another PE of this node goes by the way between the two, or, in a simulated job of very many PEs, through the other's mailbox.

use super::outbound;
use crate::model::arguments::{Arguments, Message};
use crate::model::call_options::CallOptions;
use crate::model::envelope::{Body, Call, Envelope};
use crate::model::ids::{PeId, Target};
use crate::model::nocopy::Nocopy;
use crate::model::registry::EntryRegistration;
use crate::node::backpressure::wait_for_room;
use crate::node::credit::Cost;
use crate::node::mailbox::Work;
use crate::node::way::{self, Sender};
use crate::pe::Pe;
use crate::pe::places::{Location, Recalled};
use crate::pe::queued::Queued;
use std::hint::cold_path;

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
        elsewhere => send_plain_elsewhere(pe, elsewhere, make),
    }
}

/// The other half of [`send_plain_call`]. Out of line: a call on the same PE need not make room for it. What the default options decide, the
/// compiler knows here.
#[inline(never)]
fn send_plain_elsewhere(pe: &Pe, recalled: Recalled, make: impl FnOnce() -> Call) {
    send_recalled(pe, &CallOptions::new(), recalled, make);
}

/// Sends a call that is made already, and may say more than [plain](Call::is_plain) ones do.
#[inline]
pub(super) fn send_made_call(pe: &Pe, options: &CallOptions, call: Call) {
    let target = call.target;
    if options.is_default() && call.is_plain() {
        send_plain_call(pe, &target, || call);
    } else {
        send_call(pe, options, &target, || call);
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

#[inline(always)]
fn send_recalled(pe: &Pe, options: &CallOptions, recalled: Recalled, make: impl FnOnce() -> Call) {
    match recalled {
        Recalled::Here(_) => queue_here(pe, options, make),
        Recalled::On(to) if to == pe.id => {
            let call = make();
            if pe.sees_calls() {
                pe.sample_call(&call);
            }
            queue_here(pe, options, || call);
        }
        Recalled::On(to) if pe.sees_calls() => {
            cold_path();
            let call = make();
            pe.sample_call(&call);
            send(pe, to, Envelope { options: options.clone(), body: Body::Call(call) });
        }
        Recalled::On(to) => match pe.node.rank_here(to) {
            Some(rank) if options.is_sorted() => {
                cold_path();
                pe.counters.sent.add(1);
                push_sorted(pe, to, rank, Envelope { options: options.clone(), body: Body::Call(make()) });
            }
            Some(_) if !pe.node.has_ways => {
                cold_path();
                pe.counters.sent.add(1);
                pe.node.deliver(to, Work::message(options.clone(), Body::Call(make())));
            }
            Some(rank) => {
                pe.counters.sent.add(1);
                push_to(pe, to, rank, |way| way.send_call(options, make()));
            }
            None => outbound::send_call(pe, to, options, make()),
        },
        Recalled::Nothing => send_unremembered(pe, options, make()),
    }
}

/// Queues a call on this PE, without its chare: that is to be found when the call's turn comes.
fn queue_here(pe: &Pe, options: &CallOptions, make: impl FnOnce() -> Call) {
    pe.counters.sent.add(1);
    let work = || Work::message(options.clone(), Body::Call(make()));
    pe.queue.borrow_mut().push_made(options, || Queued::Work(work()));
}

/// The PE of another node to which a call of the chare goes, as far as this PE knows.
#[inline]
pub(super) fn locate_elsewhere(pe: &Pe, target: &Target) -> Option<PeId> {
    let recalled = pe.places.borrow().recall(target);
    let to = match recalled {
        Recalled::Here(_) => return None,
        Recalled::On(to) => to,
        Recalled::Nothing => locate_unremembered(pe, target)?,
    };
    pe.node.rank_here(to).is_none().then_some(to)
}

/// The PE to which a call of a chare goes that does not live here, and whose place is not remembered.
#[cold]
fn locate_unremembered(pe: &Pe, target: &Target) -> Option<PeId> {
    if pe.places.borrow_mut().find(*target).is_some() {
        return None;
    }
    match pe.locate(*target) {
        Location::At(to) => Some(to),
        Location::Unknown(_) => None,
    }
}

/// Sends a call of a chare whose place is not remembered.
fn send_unremembered(pe: &Pe, options: &CallOptions, call: Call) {
    if pe.sees_calls() {
        pe.sample_call(&call);
    }
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
        return pe.queue.borrow_mut().push_message(envelope);
    }
    pe.depart(to, &mut envelope.options);
    match pe.node.rank_here(to) {
        Some(rank) if envelope.options.is_sorted() => push_sorted(pe, to, rank, envelope),
        Some(_) if !pe.node.has_ways => pe.node.deliver(to, Work::Message(envelope, Cost::NONE)),
        Some(rank) => push_to(pe, to, rank, |way| way.send(envelope)),
        None => outbound::forward(pe, to, envelope),
    }
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

/// Leaves a message for another PE of this node that this one is to sort among what waits there: beside the way, on which others may be
/// before it.
fn push_sorted(pe: &Pe, to: PeId, rank: usize, envelope: Envelope) {
    let (is_full, taken) = match pe.node.mailbox_bound {
        None => (false, None),
        Some(_) => pe.ways_out.borrow_mut()[rank].get_or_insert_with(|| open_way(pe, to)).count_beside(),
    };
    pe.node.deliver_sorted(to, Work::Message(envelope, Cost::NONE), taken);
    if is_full {
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
