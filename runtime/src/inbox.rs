//! What arrives from other nodes: decoded, checked, and left with the PE it is for. `Lrts::progress -> **inbox** -> queue`
//!
//! Runs on whichever PE polls the network. Nothing here trusts a byte before it is checked; what does not check ends
//! the job with an error that names the sender.

use crate::aggregation::{self, Bundle};
use crate::broadcast::{self, Origin};
use crate::call::Call;
use crate::codec;
use crate::credit::{Toll, toll};
use crate::envelope::{self, Body, Create, Envelope, Header, Insert};
use crate::error::JobError;
use crate::fetching::Large;
use crate::ids::PeId;
use crate::mailbox::{Queued, Work};
use crate::message::Arguments;
use crate::node::Node;
use crate::pe::Pe;
use crate::plain_call::PlainCall;
use crate::queue::CallOptions;
use crate::registry::EntryRegistration;
use crate::section;
use crate::zerocopy::receive::{self, Destination};
use crate::zerocopy::{Descriptor, Lender, Nocopy, closing, lent, lent_bytes, send};
use chare_lrts::{Channel, Completion, Lrts, LrtsError, NodeId, Sink};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

/// Looks at the network, unless a sleeping PE watches it, and after what waits for this node itself. Returns whether anything happened.
pub(crate) fn look(node: &Arc<Node>, polling: Option<&Pe>) -> bool {
    if node.layout.nodes() == 1 || node.watch().has_watcher() {
        // Whoever watches may have been told of room before it was known here that some is needed.
        return node.flush() | retry_and_reap(node);
    }
    let happened = progress(node, polling);
    if node.watch().has_watcher() {
        node.network.wake();
    }
    happened
}

/// The same for a PE that waits inside an entry: nothing goes into its own queue.
pub(crate) fn look_aside(node: &Arc<Node>) -> bool {
    look(node, None)
}

/// Polls the network and everything that waits for it. Returns whether anything happened.
/// What is for the PE that polls, if one does, goes into its own queue.
pub(crate) fn progress(node: &Arc<Node>, polling: Option<&Pe>) -> bool {
    let flushed = node.flush();
    let arrived = node.network.progress(&mut Inbox { node, polling });
    retry_and_reap(node) || flushed || arrived
}

/// Lets go on what waits for other threads of this node, or for neighbours, of whom nothing arrives: transfers into memory that others
/// claim, memory that a transfer still touches. Returns whether anything happened.
fn retry_and_reap(node: &Arc<Node>) -> bool {
    let retried = node.transfers.retry(&node.network);
    let reaped = node.closing.is_waiting() && closing::reap(node);
    retried || reaped
}

/// What can wait until a PE has time: freeing memory of ended registrations, telling of paths that were given up, giving memory back to
/// the system. Returns how long until there may be more to do, if that is known.
pub(crate) fn tidy(node: &Node) -> Option<Duration> {
    closing::reap(node);
    lent::sweep(node);
    for warning in node.network.take_warnings() {
        // Nobody may be reading.
        let _ = writeln!(std::io::stderr(), "warning: {}: {warning}", node.id);
    }
    node.network.give_back_memory()
}

struct Inbox<'a> {
    node: &'a Arc<Node>,
    polling: Option<&'a Pe>,
}

impl Sink for Inbox<'_> {
    fn frame(&mut self, source: NodeId, _channel: Channel, bytes: &[u8]) {
        receive(self.node, self.polling, source, bytes);
    }

    fn completion(&mut self, completion: Completion) {
        self.node.transfers.complete(completion);
    }

    fn peer_closed(&mut self, _peer: NodeId) {
        // It heard of the job's end before we did; the same news is on its way to us.
    }

    fn peer_lost(&mut self, cause: LrtsError) {
        self.node.fail(JobError::Lrts { node: self.node.id, cause });
    }
}

/// Takes one message from another node.
fn receive(node: &Arc<Node>, polling: Option<&Pe>, source: NodeId, bytes: &[u8]) {
    if node.has_ended() {
        return;
    }
    if let Err(cause) = accept(node, polling, source, bytes) {
        node.fail(JobError::Undecodable { peer: source, node: node.id, cause });
    }
}

/// Checks one message from another node and leaves it with whoever it is for.
///
/// # Errors
/// What is wrong with it, in words.
pub(crate) fn accept(
    node: &Arc<Node>,
    polling: Option<&Pe>,
    source: NodeId,
    bytes: &[u8],
) -> Result<(), String> {
    if let Some((block, rest)) = PlainCall::split(bytes) {
        return plain_call_arrived(node, polling, source, (block, rest), bytes.len());
    }
    let (header, rest) = envelope::decode(bytes)?;
    let charge = || node.charge(source, toll(bytes.len(), 0));
    match header {
        Header::Call { to, from, target, entry, options, reference, nocopy } => {
            let entry = envelope::find_entry(entry)?;
            let (nocopy, toll) = admit_nocopy(node, source, entry, nocopy, bytes.len())?;
            let arguments = (entry.decode)(rest).map_err(|error| error.to_string())?;
            let call = Call { target, from, entry, arguments, nocopy, reference };
            call_arrived(node, polling, Destination { pe: here(node, to)?, options, toll }, call)
        }
        Header::Create { id, chare, options } => {
            let chare = envelope::find_chare(chare)?;
            let arguments = (chare.decode)(rest).map_err(|error| error.to_string())?;
            deliver(node, polling, charge()?, id.home, &options, || {
                Body::Create(Create { id, chare, arguments })
            })
        }
        Header::Insert { to, order, chare, options } => {
            let chare = envelope::find_chare(chare)?;
            let arguments = (chare.decode)(rest).map_err(|error| error.to_string())?;
            let insert = Box::new(Insert { order, chare, arguments });
            deliver(node, polling, charge()?, to, &options, || Body::Insert(insert))
        }
        Header::Bundle { to, from, collection, entry } => {
            let entry = envelope::find_entry(entry)?;
            let items = aggregation::decode(entry, rest, node.layout.pes())?;
            let bundle = Box::new(Bundle { collection, entry, from, items });
            deliver(node, polling, charge()?, to, &entry.options, || Body::Bundle(bundle))
        }
        Header::Contribution { to, collection, partial } => {
            let partial = Box::new(partial);
            deliver(node, polling, charge()?, to, &CallOptions::new(), || Body::Contribution {
                collection,
                partial,
            })
        }
        Header::News { to, news } => {
            deliver(node, polling, charge()?, to, &CallOptions::new(), || Body::News(Box::new(news)))
        }
        Header::Section { to, message } => {
            let message = Box::new(message);
            deliver(node, polling, charge()?, to, &CallOptions::new(), || Body::Section(message))
        }
        Header::Multicast { call, leg, nocopy } => {
            let toll = node.charge(source, toll(bytes.len(), lent_bytes(&nocopy)))?;
            section::accept(node, toll, (call, leg), nocopy, rest)
        }
        Header::Resolve { future } => {
            let value = Arguments::encoded(rest.to_vec());
            deliver(node, polling, charge()?, future.pe, &CallOptions::new(), || Body::Resolve {
                future,
                value,
            })
        }
        Header::Broken { future, cause } => {
            deliver(node, polling, charge()?, future.pe, &CallOptions::new(), || Body::Broken {
                future,
                cause,
            })
        }
        Header::Quiescence { to, wave } => {
            deliver(node, polling, charge()?, to, &CallOptions::new(), || Body::Quiescence(Box::new(wave)))
        }
        Header::Spread { root, spread } => {
            broadcast::accept(node, Origin { parent: source, root }, spread, bytes, rest)
        }
        Header::Large { descriptor } => take_large(node, source, descriptor),
        Header::Released { token, bytes } => lent::released(node, token, bytes),
        Header::Credit { bytes } => node.take_credit(source, bytes),
        Header::Notify { callback, bytes } => {
            send::fire(node, callback, Arguments::new(bytes));
            node.outside.processed.add_shared(1);
            Ok(())
        }
    }
}

/// A call as nearly all are, in a frame of so many bytes.
#[inline]
fn plain_call_arrived(
    node: &Arc<Node>,
    polling: Option<&Pe>,
    source: NodeId,
    (block, rest): (PlainCall, &[u8]),
    frame_bytes: usize,
) -> Result<(), String> {
    let entry = envelope::find_entry(block.entry())?;
    if !entry.nocopy.is_empty() {
        return nocopy_call_arrived(node, polling, source, entry, (block, rest), frame_bytes);
    }
    let arguments = (entry.decode)(rest).map_err(|error| error.to_string())?;
    let (to, from) = (block.to(), node.layout.pe(source, block.caller_rank()));
    let call = Call { target: block.target(), from, entry, arguments, nocopy: None, reference: 0 };
    let toll = node.charge(source, toll(frame_bytes, 0))?;
    deliver_call(node, polling, toll, to, &entry.options, call)
}

/// The same with nocopy arguments. Out of line: calls without need not make room for it.
#[inline(never)]
fn nocopy_call_arrived(
    node: &Arc<Node>,
    polling: Option<&Pe>,
    source: NodeId,
    entry: &'static EntryRegistration,
    (block, rest): (PlainCall, &[u8]),
    frame_bytes: usize,
) -> Result<(), String> {
    let (nocopy, rest) = codec::decode_front(rest).map_err(|error| error.to_string())?;
    let (nocopy, toll) = admit_nocopy(node, source, entry, nocopy, frame_bytes)?;
    let arguments = (entry.decode)(rest).map_err(|error| error.to_string())?;
    let from = node.layout.pe(source, block.caller_rank());
    let call = Call { target: block.target(), from, entry, arguments, nocopy, reference: 0 };
    let destination = Destination { pe: here(node, block.to())?, options: entry.options.clone(), toll };
    call_arrived(node, polling, destination, call)
}

/// Leaves a call with its PE: in the queue with its chare, if it is for the PE that polls and says no more than most do.
#[inline(always)]
fn deliver_call(
    node: &Node,
    polling: Option<&Pe>,
    toll: Toll,
    to: PeId,
    options: &CallOptions,
    call: Call,
) -> Result<(), String> {
    match polling {
        Some(pe) if pe.id == to && options.is_default() && call.is_plain() => {
            pe.queue.borrow_mut().push_plain_call(&mut pe.places.borrow_mut(), call, toll);
            Ok(())
        }
        _ => deliver(node, polling, toll, to, options, || Body::Call(call)),
    }
}

/// Checks the nocopy arguments of a call and charges its sender; returns them, and what the call costs.
///
/// # Errors
/// When its entry has more or fewer parameters, nobody can have lent them, or its sender had no credit, in words.
fn admit_nocopy(
    node: &Node,
    source: NodeId,
    entry: &EntryRegistration,
    nocopy: Vec<Descriptor>,
    frame_bytes: usize,
) -> Result<(Option<Box<Nocopy>>, Toll), String> {
    envelope::check_count(nocopy.len(), entry)?;
    nocopy.iter().filter_map(Descriptor::lender).try_for_each(|lender| check_exists(node, source, lender))?;
    let toll = node.charge(source, toll(frame_bytes, lent_bytes(&nocopy)))?;
    Ok(((!nocopy.is_empty()).then(|| Box::new(Nocopy::Described(nocopy))), toll))
}

fn here(node: &Node, pe: PeId) -> Result<PeId, String> {
    if node.is_here(pe) { Ok(pe) } else { Err(format!("a message for {pe}, which is not on this node")) }
}

/// Leaves what `make` makes with a PE: in its place in the queue, if that PE is here.
#[inline]
fn deliver(
    node: &Node,
    polling: Option<&Pe>,
    toll: Toll,
    to: PeId,
    options: &CallOptions,
    make: impl FnOnce() -> Body,
) -> Result<(), String> {
    let work = || Work::Message(Envelope { options: options.clone(), body: make() }, toll);
    match polling {
        Some(pe) if pe.id == to => pe.queue.borrow_mut().push_made(options, || Queued::Work(work())),
        _ => node.deliver(here(node, to)?, work()),
    }
    Ok(())
}

/// A call's memory is its sender's, or that of the node that sent the call there: any node of the job.
fn check_exists(node: &Node, source: NodeId, lender: NodeId) -> Result<(), String> {
    let exists = lender.0 < node.layout.nodes();
    if exists {
        Ok(())
    } else {
        Err(format!("{source} names memory of {lender}, which the job does not have"))
    }
}

/// A call whose post method has to run first goes to its PE as it is; any other when its arguments are here.
fn call_arrived(
    node: &Arc<Node>,
    polling: Option<&Pe>,
    destination: Destination,
    call: Call,
) -> Result<(), String> {
    let ready = if call.entry.has_posts() {
        Some(call)
    } else {
        receive::land(node, destination.clone(), call, Vec::new())?
    };
    let Some(call) = ready else { return Ok(()) };
    let Destination { pe, options, toll } = destination;
    deliver_call(node, polling, toll, pe, &options, call)
}

/// A message that was too long for a frame: read in place or fetched, then taken like any other.
fn take_large(node: &Arc<Node>, source: NodeId, descriptor: Descriptor) -> Result<(), String> {
    let Descriptor::Lent { key, token } = descriptor else {
        return Err("a large message that is not lent".to_owned());
    };
    if key.node != source {
        return Err(format!("{source} lends memory of {}", key.node));
    }
    let lender = Lender { node: source, token };
    if let Some(memory) = lent::view(node, &key)? {
        receive_large(node, source, memory.as_slice());
        drop(memory);
        lent::send_release(node, lender, key.len);
        return Ok(());
    }
    node.fetching.announce(Large { key, lender })?.map_or(Ok(()), |large| fetch_large(node, large))
}

fn fetch_large(node: &Arc<Node>, Large { key, lender }: Large) -> Result<(), String> {
    let into = lent::landing(node, &key, None)?;
    let (what, bytes) = (|| "fetching a large message".to_owned(), into.len());
    lent::fetch(node, what, key, (into, bytes), move |node, memory| {
        lent::send_release(node, lender, key.len);
        receive_large(node, lender.node, memory.as_slice());
        drop(memory);
        if node.fetching.over(key.len) {
            fetch_waiting(node);
        }
    });
    Ok(())
}

/// Fetches what has its turn now.
fn fetch_waiting(node: &Arc<Node>) {
    while let Some(next) = node.fetching.next().filter(|_| !node.has_ended()) {
        if let Err(cause) = fetch_large(node, next) {
            node.fail(JobError::Undecodable { peer: next.lender.node, node: node.id, cause });
        }
    }
}

fn receive_large(node: &Arc<Node>, source: NodeId, bytes: &[u8]) {
    if let Ok((Header::Large { .. }, _)) = envelope::decode(bytes) {
        // One that leads to itself would never end.
        let cause = "a large message that consists of a large message".to_owned();
        return node.fail(JobError::Undecodable { peer: source, node: node.id, cause });
    }
    receive(node, None, source, bytes);
}
