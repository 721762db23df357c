//! Inbox for messages from other nodes: decodes and checks each, and leaves it with the PE that it is for.
//! `lrts -> delivery/polling -> **delivery/inbox** -> node/mailbox, pe/run_queue -> delivery/scheduler -> delivery/dispatch -> delivery/invocation -> the entry method`
//!
//! The inbox runs on the PE that polls the network. It trusts no byte before it has checked it; a message that fails a check ends the job
//! with an error that names the sender.

use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::envelope::frame::{self, Header};
use crate::model::envelope::{Argument, Body, Call, Create, Envelope, PlainCall};
use crate::model::error::JobError;
use crate::model::ids::PeId;
use crate::model::nocopy::{Descriptor, Descriptors, Few, Lender, Nocopy, lent_bytes};
use crate::model::registry::{EntryRegistration, check_count, find_chare, find_entry, read_apart};
use crate::node::credit::{Cost, cost_of};
use crate::node::ledger::Note;
use crate::node::mailbox::Work;
use crate::node::{Arrival, Delivery, Ending, Large, Node};
use crate::pe::Pe;
use crate::pe::queued::Queued;
use crate::transfer::copy::{helping, laid_out};
use crate::transfer::take::remote_memory;
use crate::transfer::{Destination, arrival, device, ways};
use chare_lrts::{NodeId, codec};
use smallvec::smallvec;
use std::sync::Arc;

/// Takes one message from another node; ends the job if the message fails a check.
pub(super) fn take(node: &Arc<Node>, polling: Option<&Pe>, source: NodeId, bytes: &[u8]) {
    node.ledger.note(node.id, Note::Taken { source, bytes });
    if node.has_ended() {
        return;
    }
    if let Err(cause) = accept(node, polling, source, bytes) {
        node.fail(JobError::Undecodable { peer: source, node: node.id, cause });
    }
}

/// Checks one message from another node and leaves it with the PE or the service that it is for.
///
/// # Errors
/// The flaw of the message, in words.
pub(crate) fn accept(
    node: &Arc<Node>,
    polling: Option<&Pe>,
    source: NodeId,
    bytes: &[u8],
) -> Result<(), String> {
    if let Some((block, rest)) = PlainCall::split(bytes) {
        return plain_call_arrived(node, polling, source, (block, rest), bytes.len());
    }
    let (header, rest) = frame::decode(bytes)?;
    let charge = || node.charge(source, cost_of(bytes.len(), 0));
    match header {
        Header::Call { to, from, target, entry, options, reference, nocopy } => {
            let entry = find_entry(entry)?;
            let mut nocopy = Few::from_vec(nocopy);
            let cost = admit_nocopy(node, source, entry, &mut nocopy, bytes.len())?;
            let nocopy = (!nocopy.is_empty()).then(|| Box::new(Nocopy::Described(nocopy)));
            let arguments = entry.decode(rest)?;
            let call = Call { target, from, entry, arguments, nocopy, reference };
            call_arrived(node, polling, Destination { pe: here(node, to)?, options, cost, begun: None }, call)
        }
        Header::Create { id, chare, options } => {
            let chare = find_chare(chare)?;
            let refused = |cause| format!("the arguments of a new {}: {cause}", chare.name);
            let arguments = read_apart(|| (chare.decode)(rest)).map_err(refused)?;
            deliver(node, polling, charge()?, id.home, &options, || {
                Body::Create(Create { id, chare, arguments })
            })
        }
        Header::Resolve { future, name } => {
            let value = Arguments::encoded(rest.to_vec());
            deliver(node, polling, charge()?, future.pe, &CallOptions::named(name), || Body::Resolve {
                future,
                value,
            })
        }
        Header::Broken { future, cause, name } => {
            deliver(node, polling, charge()?, future.pe, &CallOptions::named(name), || Body::Broken {
                future,
                cause,
            })
        }
        Header::System { service, name } => {
            let row = node.service(service).ok_or_else(|| format!("there is no {service:?}"))?;
            match (row.arrive)(node, Arrival { source, frame: bytes, said: rest })? {
                Some(Delivery { to, mut options, message }) => {
                    options.set_message_name(name);
                    deliver(node, polling, charge()?, to, &options, || Body::System(message))
                }
                None => Ok(()),
            }
        }
        Header::Exit { root, code, error } => {
            check_exists(node, root, || format!("the job's end from {root}"))?;
            node.post_to_children(&node.outside, root, bytes, None);
            node.end(match error {
                Some(message) => Ending::Error(JobError::Elsewhere(message)),
                None => Ending::Code(code),
            });
            node.outside.processed.add_shared(1);
            Ok(())
        }
        Header::Large { descriptor } => take_large(node, source, descriptor),
        Header::Released { token, bytes } => remote_memory::released(node, polling, token, bytes),
        Header::Device(said) => device::arrived(node, source, said),
        Header::Layout { digest, news } => {
            laid_out::heard(node, source, digest, news)?;
            node.outside.processed.add_shared(1);
            Ok(())
        }
        Header::Help { source: lent, from, target, to } => {
            helping::help(node, source, (lent, from), (target, to))
        }
        Header::Credit { bytes } => node.take_credit(source, bytes),
        Header::Notify { callback, bytes } => {
            node.fire(callback, Arguments::new(bytes));
            node.outside.processed.add_shared(1);
            Ok(())
        }
    }
}

/// Takes a plain call, as nearly all calls are, from a frame of so many bytes.
#[inline]
fn plain_call_arrived(
    node: &Arc<Node>,
    polling: Option<&Pe>,
    source: NodeId,
    (block, rest): (PlainCall, &[u8]),
    frame_bytes: usize,
) -> Result<(), String> {
    let entry = find_entry(block.entry())?;
    if !entry.nocopy.is_empty() {
        return nocopy_call_arrived(node, polling, source, entry, (block, rest), frame_bytes);
    }
    let arguments = entry.decode(rest)?;
    let (to, from) = (block.to(), node.topology.pe(source, block.caller_rank()));
    let call = Call { target: block.target(), from, entry, arguments, nocopy: None, reference: 0 };
    let cost = node.charge(source, cost_of(frame_bytes, 0))?;
    deliver_call(node, polling, cost, to, &entry.options, call)
}

/// Takes a plain call with nocopy arguments. Out of line: calls without need not make room for it.
#[inline(never)]
fn nocopy_call_arrived(
    node: &Arc<Node>,
    polling: Option<&Pe>,
    source: NodeId,
    entry: &'static EntryRegistration,
    (block, rest): (PlainCall, &[u8]),
    frame_bytes: usize,
) -> Result<(), String> {
    let (mut released, rest) = PlainCall::split_released(rest)?;
    released.try_for_each(|[token, bytes]| remote_memory::released(node, polling, token, bytes))?;
    let (argument, rest) = PlainCall::split_argument(rest)?;
    let (nocopy, cost, rest) = match argument {
        Argument::Eager(bytes) => {
            check_count(1, entry)?;
            let cost = node.charge(source, cost_of(frame_bytes, 0))?;
            (Box::new(Nocopy::eager(entry.nocopy[0], bytes)), cost, rest)
        }
        Argument::Lent(lent) => {
            let mut nocopy: Few<Descriptor> = smallvec![lent.describe()?];
            let cost = admit_nocopy(node, source, entry, &mut nocopy, frame_bytes)?;
            (Box::new(Nocopy::Described(nocopy)), cost, rest)
        }
        Argument::Described => {
            let (Descriptors(mut nocopy), rest) =
                codec::decode_front(rest).map_err(|error| error.to_string())?;
            let cost = admit_nocopy(node, source, entry, &mut nocopy, frame_bytes)?;
            (Box::new(Nocopy::Described(nocopy)), cost, rest)
        }
    };
    let (to, from) = (block.to(), node.topology.pe(source, block.caller_rank()));
    let arguments = entry.decode(rest)?;
    let brings_on_its_pe = entry.has_posts() || nocopy.is_ready(entry.nocopy);
    let call = Call { target: block.target(), from, entry, arguments, nocopy: Some(nocopy), reference: 0 };
    if brings_on_its_pe {
        return deliver_call(node, polling, cost, to, &entry.options, call);
    }
    let options = entry.options.clone();
    let destination = Destination { pe: here(node, to)?, options, cost, begun: None };
    land(node, polling, destination, call)
}

/// Leaves a call with its PE: in the run queue together with its chare, if the call is plain and for the PE that polls.
#[inline(always)]
fn deliver_call(
    node: &Node,
    polling: Option<&Pe>,
    cost: Cost,
    to: PeId,
    options: &CallOptions,
    call: Call,
) -> Result<(), String> {
    match polling {
        Some(pe) if pe.id == to && options.is_default() && call.is_plain() => {
            pe.queue.borrow_mut().push_plain_call(&mut pe.places.borrow_mut(), call, cost);
            Ok(())
        }
        _ => deliver(node, polling, cost, to, options, || Body::Call(call)),
    }
}

/// Checks the nocopy arguments of a call and charges its sender; returns the call's cost.
///
/// # Errors
/// When the entry has more or fewer parameters, no node of the job can have lent the arguments, or the sender had no credit, in words.
fn admit_nocopy(
    node: &Node,
    source: NodeId,
    entry: &EntryRegistration,
    nocopy: &mut [Descriptor],
    frame_bytes: usize,
) -> Result<Cost, String> {
    check_count(nocopy.len(), entry)?;
    for descriptor in &mut *nocopy {
        laid_out::admit(node, source, descriptor)?;
    }
    // The memory belongs to the sender, or to the node that sent the call to the sender: to any node of the job.
    nocopy
        .iter()
        .filter_map(Descriptor::lender)
        .try_for_each(|lender| check_exists(node, lender, || format!("{source} names memory of {lender}")))?;
    node.charge(source, cost_of(frame_bytes, lent_bytes(&*nocopy)))
}

fn here(node: &Node, pe: PeId) -> Result<PeId, String> {
    if node.is_here(pe) { Ok(pe) } else { Err(format!("a message for {pe}, which is not on this node")) }
}

/// Leaves the message that `make` makes with a PE: directly in the run queue if that PE polls, else in its mailbox.
#[inline]
fn deliver(
    node: &Node,
    polling: Option<&Pe>,
    cost: Cost,
    to: PeId,
    options: &CallOptions,
    make: impl FnOnce() -> Body,
) -> Result<(), String> {
    let work = || Work::Message(Envelope { options: options.clone(), body: make() }, cost);
    match polling {
        Some(pe) if pe.id == to => pe.queue.borrow_mut().push_arrived(options, || Queued::Work(work())),
        _ => node.deliver(here(node, to)?, work()),
    }
    Ok(())
}

/// Checks that the job has a node that a message names.
///
/// # Errors
/// When the job has no such node, in words.
fn check_exists(node: &Node, named: NodeId, what: impl FnOnce() -> String) -> Result<(), String> {
    let exists = named.0 < node.topology.nodes();
    if exists { Ok(()) } else { Err(format!("{}, which the job does not have", what())) }
}

/// Leaves a call with its PE: at once if its post method has to run first, else when its arguments are here.
fn call_arrived(
    node: &Arc<Node>,
    polling: Option<&Pe>,
    destination: Destination,
    call: Call,
) -> Result<(), String> {
    if call.entry.has_posts() {
        let Destination { pe, options, cost, .. } = destination;
        return deliver_call(node, polling, cost, pe, &options, call);
    }
    land(node, polling, destination, call)
}

/// Brings the arguments of a call in that has no posts, and leaves the call with its PE.
fn land(node: &Arc<Node>, polling: Option<&Pe>, destination: Destination, call: Call) -> Result<(), String> {
    let Some(call) = arrival::land(node, &destination, call, Few::new())? else { return Ok(()) };
    let Destination { pe, options, cost, .. } = destination;
    deliver_call(node, polling, cost, pe, &options, call)
}

/// Takes a message that was too long for a frame: reads it in place or fetches it, then takes it like any other message.
fn take_large(node: &Arc<Node>, source: NodeId, descriptor: Descriptor) -> Result<(), String> {
    let Descriptor::Lent { key, layout: None, token, .. } = descriptor else {
        return Err("a large message that is not lent".to_owned());
    };
    if key.node != source {
        return Err(format!("{source} lends memory of {}", key.node));
    }
    let lender = Lender { node: source, token };
    if let Some(memory) = remote_memory::view(node, &key, None)? {
        let memory_bytes = memory.len();
        let read = move |node: &Arc<Node>| {
            receive_large(node, source, memory.as_slice());
            drop(memory);
            remote_memory::send_release(node, lender, key.len);
        };
        if ways::is_long(memory_bytes) {
            node.put_off(Box::new(read));
        } else {
            read(node);
        }
        return Ok(());
    }
    node.large_messages.announce(Large { key, lender })?.map_or(Ok(()), |large| fetch_large(node, large))
}

fn fetch_large(node: &Arc<Node>, Large { key, lender }: Large) -> Result<(), String> {
    let into = remote_memory::landing(node, &key, None)?;
    let (what, bytes) = (|| "fetching a large message".to_owned(), into.len());
    remote_memory::fetch(node, what, (key, 0), (into, bytes), move |node, memory| {
        remote_memory::send_release(node, lender, key.len);
        receive_large(node, lender.node, memory.as_slice());
        drop(memory);
        if node.large_messages.over(key.len) {
            fetch_waiting(node);
        }
    });
    Ok(())
}

/// Fetches the large messages whose turn has come.
fn fetch_waiting(node: &Arc<Node>) {
    while let Some(next) = node.large_messages.next().filter(|_| !node.has_ended()) {
        if let Err(cause) = fetch_large(node, next) {
            node.fail(JobError::Undecodable { peer: next.lender.node, node: node.id, cause });
        }
    }
}

fn receive_large(node: &Arc<Node>, source: NodeId, bytes: &[u8]) {
    if let Ok((Header::Large { .. }, _)) = frame::decode(bytes) {
        // A large message that leads to itself would never end.
        let cause = "a large message that consists of a large message".to_owned();
        return node.fail(JobError::Undecodable { peer: source, node: node.id, cause });
    }
    take(node, None, source, bytes);
}
