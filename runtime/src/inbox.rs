//! What arrives from other nodes: decoded, checked, and left with the PE it is for. `Lrts::progress -> **inbox** -> queue`
//!
//! Runs on whichever PE polls the network. Nothing here trusts a byte before it is checked; what does not check ends
//! the job with an error that names the sender.

use crate::collection::CollectionInfo;
use crate::envelope::{self, Body, Broadcast, Call, CallOfAll, Create, Envelope, Header, Spread};
use crate::error::JobError;
use crate::ids::PeId;
use crate::mailbox::Work;
use crate::message::Arguments;
use crate::node::{Ending, Node};
use crate::queue::CallOptions;
use crate::reduction::Partial;
use crate::registry::EntryRegistration;
use crate::zerocopy::broadcast::{self, Carried, Wanted};
use crate::zerocopy::receive::{self, Destination};
use crate::zerocopy::{Descriptor, Leaving, Nocopy, send};
use chare_lrts::{Channel, Completion, Lrts, LrtsError, NodeId, RegionKey, Sink};
use std::sync::Arc;

/// Polls the network and everything that waits for it. Returns whether anything happened.
pub(crate) fn progress(node: &Arc<Node>) -> bool {
    let flushed = node.flush();
    let arrived = node.network.progress(&mut Inbox(node));
    let retried = node.transfers.retry(&node.network);
    let reaped = node.closing.is_waiting() && node.closing.reap(node.network.regions());
    flushed || arrived || retried || reaped
}

/// What can wait until a PE has time: freeing memory of ended registrations, telling of paths that were given up.
pub(crate) fn tidy(node: &Node) {
    node.closing.reap(node.network.regions());
    for warning in node.network.take_warnings() {
        eprintln!("warning: {}: {warning}", node.id);
    }
}

struct Inbox<'a>(&'a Arc<Node>);

impl Sink for Inbox<'_> {
    fn frame(&mut self, source: NodeId, _channel: Channel, bytes: &[u8]) {
        receive(self.0, source, bytes);
    }

    fn completion(&mut self, completion: Completion) {
        self.0.transfers.complete(completion);
    }

    fn peer_closed(&mut self, _peer: NodeId) {
        // It heard of the job's end before we did; the same news is on its way to us.
    }

    fn peer_lost(&mut self, cause: LrtsError) {
        self.0.fail(JobError::Lrts { node: self.0.id, cause });
    }
}

/// Takes one message from another node.
fn receive(node: &Arc<Node>, source: NodeId, bytes: &[u8]) {
    if node.has_ended() {
        return;
    }
    if let Err(cause) = accept(node, source, bytes) {
        node.fail(JobError::Undecodable { peer: source, node: node.id, cause });
    }
}

fn accept(node: &Arc<Node>, source: NodeId, bytes: &[u8]) -> Result<(), String> {
    let (header, rest) = envelope::decode(bytes)?;
    match header {
        Header::Call { to, target, entry, options, reference, nocopy } => {
            let entry = envelope::find_entry(entry)?;
            check_count(nocopy.len(), entry)?;
            nocopy.iter().try_for_each(|descriptor| check_owner(source, descriptor))?;
            let arguments = (entry.decode)(rest).map_err(|error| error.to_string())?;
            let nocopy = (!nocopy.is_empty()).then(|| Box::new(Nocopy::Described(nocopy)));
            let call = Call { target, entry, arguments, nocopy, reference };
            call_arrived(node, Destination { pe: here(node, to)?, options }, call)
        }
        Header::Create { id, chare, options } => {
            let chare = envelope::find_chare(chare)?;
            let arguments = (chare.decode)(rest).map_err(|error| error.to_string())?;
            deliver(node, id.home, options, Body::Create(Create { id, chare, arguments }))
        }
        Header::Contribution { to, partial } => {
            deliver(node, to, CallOptions::new(), Body::Contribution(Box::new(Partial::from(partial))))
        }
        Header::Resolve { future } => {
            let value = Arguments::encoded(rest.to_vec());
            deliver(node, future.pe, CallOptions::new(), Body::Resolve { future, value })
        }
        Header::Quiescence { to, wave } => {
            deliver(node, to, CallOptions::new(), Body::Quiescence(Box::new(wave)))
        }
        Header::Spread { root, spread } => {
            if root.0 >= node.layout.nodes() {
                return Err(format!("a broadcast from {root}, which does not exist"));
            }
            match spread {
                Spread::Broadcast { call, nocopy } if !nocopy.is_empty() => {
                    bring_broadcast_in(node, (source, root), call, nocopy, rest)
                }
                spread => {
                    let children = node.post_to_children(&node.outside, root, bytes);
                    node.outside.sent.add_shared(children);
                    expand(node, spread, rest)?;
                    node.outside.processed.add_shared(1);
                    Ok(())
                }
            }
        }
        Header::Large { descriptor } => fetch_large(node, source, descriptor),
        Header::Released { token } => {
            node.transfers.release(node.network.regions(), token)?;
            node.outside.processed.add_shared(1);
            Ok(())
        }
        Header::Notify { callback, bytes } => {
            send::fire(node, callback, Arguments::new(bytes));
            node.outside.processed.add_shared(1);
            Ok(())
        }
    }
}

fn here(node: &Node, pe: PeId) -> Result<PeId, String> {
    if node.is_here(pe) { Ok(pe) } else { Err(format!("a message for {pe}, which is not on this node")) }
}

fn deliver(node: &Node, to: PeId, options: CallOptions, body: Body) -> Result<(), String> {
    node.deliver(here(node, to)?, Work::Message(Envelope { options, body }));
    Ok(())
}

fn check_count(given: usize, entry: &EntryRegistration) -> Result<(), String> {
    let expected = entry.nocopy.len();
    if given == expected {
        return Ok(());
    }
    Err(format!("{given} nocopy arguments for the {expected} of {}::{}", entry.chare, entry.name))
}

/// A call's memory is lent by its owner alone.
fn check_owner(source: NodeId, descriptor: &Descriptor) -> Result<(), String> {
    match descriptor {
        Descriptor::Lent { key, .. } if key.node != source => {
            Err(format!("{source} lends memory of {}", key.node))
        }
        _ => Ok(()),
    }
}

/// A call whose post method has to run first goes to its PE as it is; any other when its arguments are here.
fn call_arrived(node: &Arc<Node>, destination: Destination, call: Call) -> Result<(), String> {
    let Destination { pe, options } = destination;
    let ready = if call.entry.has_posts() {
        Some(call)
    } else {
        let destination = Destination { pe, options: options.clone() };
        receive::land(node, destination, call, &[])?
    };
    if let Some(call) = ready {
        node.deliver(pe, Work::Message(Envelope { options, body: Body::Call(call) }));
    }
    Ok(())
}

/// What all nodes are told, told to the PEs of this one.
fn expand(node: &Arc<Node>, spread: Spread, rest: &[u8]) -> Result<(), String> {
    match spread {
        Spread::Members { id, chare, len, placement } => {
            let chare = envelope::find_chare(chare)?;
            let arguments = (chare.decode)(rest).map_err(|error| error.to_string())?;
            let info = Arc::new(CollectionInfo::new(id, chare, len, placement, node.layout)?);
            tell_pes(node, &CallOptions::new().expedited(), || Body::CreateMembers {
                info: Arc::clone(&info),
                arguments: arguments.clone(),
            });
        }
        Spread::Broadcast { call, nocopy } => {
            let entry = envelope::find_entry(call.entry)?;
            check_count(nocopy.len(), entry)?;
            let arguments = (entry.decode)(rest).map_err(|error| error.to_string())?;
            tell_members(node, &call, entry, &arguments, &[]);
        }
        Spread::Readonly => {
            node.readonly.accept(rest).map_err(|error| error.to_string())?;
            node.open();
        }
        Spread::Exit { code, error } => node.end(match error {
            Some(message) => Ending::Error(JobError::Elsewhere(message)),
            None => Ending::Code(code),
        }),
    }
    Ok(())
}

/// A broadcast with nocopy arguments: told to the children and to the PEs of this node when it has them.
fn bring_broadcast_in(
    node: &Arc<Node>,
    (source, root): (NodeId, NodeId),
    call: CallOfAll,
    nocopy: Vec<Descriptor>,
    rest: &[u8],
) -> Result<(), String> {
    let entry = envelope::find_entry(call.entry)?;
    check_count(nocopy.len(), entry)?;
    let arguments = (entry.decode)(rest).map_err(|error| error.to_string())?;
    let encoded = rest.to_vec();
    let what = format!("fetching a nocopy argument of {}::{}", entry.chare, entry.name);
    let wanted = nocopy.into_iter().map(|descriptor| Wanted { descriptor, into: None }).collect();
    broadcast::bring_in(node, source, &what, wanted, move |node, carried| {
        let spread = |nocopy| Spread::Broadcast { call: call.clone(), nocopy };
        match broadcast::pass_on(node, &node.outside, root, &carried, spread, &encoded) {
            Ok(children) => node.outside.sent.add_shared(children),
            Err(cause) => {
                let what = format!("passing on a broadcast of {}::{}", entry.chare, entry.name);
                let pe = node.layout.pe(node.id, 0);
                node.fail(JobError::Delivery { what, pe, node: node.id, cause });
            }
        }
        tell_members(node, &call, entry, &arguments, &carried);
        node.outside.processed.add_shared(1);
    })
}

/// Leaves a broadcast with every PE of this node, for its members.
fn tell_members(
    node: &Node,
    call: &CallOfAll,
    entry: &'static EntryRegistration,
    arguments: &Arguments,
    carried: &[Carried],
) {
    let kinds = entry.nocopy.iter();
    let nocopy: Vec<Leaving> = carried.iter().zip(kinds).map(|(one, kind)| one.for_member(*kind)).collect();
    tell_pes(node, &call.options, || {
        let &CallOfAll { collection, reference, .. } = call;
        let (arguments, nocopy) = (arguments.clone(), nocopy.clone());
        Body::Broadcast(Box::new(Broadcast { collection, entry, arguments, nocopy, reference }))
    });
}

fn tell_pes(node: &Node, options: &CallOptions, body: impl Fn() -> Body) {
    for pe in node.pes() {
        node.deliver_counted(pe, Envelope { options: options.clone(), body: body() });
    }
}

/// A message that was too long for a frame: read in place or fetched, then taken like any other.
fn fetch_large(node: &Arc<Node>, source: NodeId, descriptor: Descriptor) -> Result<(), String> {
    check_owner(source, &descriptor)?;
    let Descriptor::Lent { key, token } = descriptor else {
        return Err("a large message that is not lent".to_owned());
    };
    if let Some(memory) = receive::view(node, &key)? {
        take_large(node, source, (key, token), memory.as_slice());
        return Ok(());
    }
    let into = receive::landing(node, &key, None)?;
    receive::fetch(node, "fetching a large message".to_owned(), key, into, move |node, memory| {
        take_large(node, source, (key, token), memory.as_slice());
    });
    Ok(())
}

fn take_large(node: &Arc<Node>, source: NodeId, (key, token): (RegionKey, u64), bytes: &[u8]) {
    receive(node, source, bytes);
    receive::send_release(node, key.node, token);
}
