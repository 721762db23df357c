//! Outbound messages: those for PEs of other nodes, written into frames and posted, with what they cost and what they lend.
//! `api/proxy -> transfer -> model/envelope -> pe/places -> delivery/outbox -> **delivery/outbound** -> node/posting -> lrts`

use crate::base::panics;
use crate::model::arguments::Arguments;
use crate::model::call_options::{CallOptions, MessageName};
use crate::model::envelope::frame::{self, Header, Packed};
use crate::model::envelope::{Body, Call, Envelope, PlainCall, SystemMessage};
use crate::model::error::JobError;
use crate::model::ids::PeId;
use crate::model::nocopy::{Descriptor, Few, Nocopy, lent_bytes};
use crate::model::registry::EntryRegistration;
use crate::node::Node;
use crate::node::backpressure::hold_back;
use crate::node::credit::{Price, cost_of};
use crate::pe::Pe;
use crate::transfer::describing;
use crate::transfer::device;
use chare_lrts::codec::{CodecError, Writer};
use std::sync::Arc;

/// Sends a call to a PE of another node, and counts it. Most calls are written into a frame at once, without making a message of them first.
pub(crate) fn send_call(pe: &Pe, to: PeId, options: &CallOptions, call: Call) {
    match PlainCall::describe(pe.node.rank_here(call.from), to, options, &call) {
        Some(block) if !call.sends_of_devices() && exists(pe, to) => {
            let Call { entry, arguments, nocopy, .. } = call;
            match nocopy {
                None => {
                    let packed = pack_plain(pe, entry, |out| block.write(out, None, &arguments));
                    post(pe, to, Weight::of_call(options, 0), packed);
                }
                Some(nocopy) => send_described(pe, to, (entry, &block), *nocopy, &arguments),
            }
        }
        _ => {
            pe.counters.sent.add(1);
            forward(pe, to, Envelope { options: options.clone(), body: Body::Call(call) });
        }
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
    let released = pe.releases.take_for(pe.node.topology.node_of(to));
    let packed = pack_plain(pe, entry, |out| block.write(out, Some((&released, &descriptors)), arguments));
    drop(descriptors);
    // Its options are the entry's.
    post(pe, to, Weight::of_call(&entry.options, lent), packed);
}

/// Counts and packs a plain call of an entry.
#[inline(always)]
pub(super) fn pack_plain(
    pe: &Pe,
    entry: &EntryRegistration,
    write: impl FnMut(&mut Writer<'_>) -> Result<(), CodecError>,
) -> Option<Packed> {
    pe.counters.sent.add(1);
    pe.counters.encodes.add(1);
    pack(pe, write, || format!("a call of {}::{}", entry.chare, entry.name))
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

/// Sends a message that was counted before to a PE of another node.
pub(crate) fn forward(pe: &Pe, to: PeId, Envelope { options, body }: Envelope) {
    if !exists(pe, to) {
        return;
    }
    match body {
        Body::Call(call) => {
            let Some(call) = device::set_aside(&pe.node, to, &options, call, post_staged) else { return };
            let Call { target, from, entry, arguments, nocopy, reference } = call;
            let nocopy =
                nocopy.map_or_else(Few::new, |nocopy| describe_nocopy(pe, to, entry, *nocopy)).into_vec();
            let weight = Weight::of_call(&options, lent_bytes(&nocopy));
            let header = Header::Call { to, from, target, entry: entry.id, options, reference, nocopy };
            post_header(pe, to, weight, header, Some(&arguments));
        }
        Body::Create(create) => {
            let weight = Weight::of_call(&options, 0);
            let header = Header::Create { id: create.id, chare: create.chare.id, options };
            post_header(pe, to, weight, header, Some(&create.arguments));
        }
        Body::Resolve { future, value } => {
            let name = options.message_name();
            post_header(pe, to, Weight::default(), Header::Resolve { future, name }, Some(&value));
        }
        Body::Broken { future, cause } => {
            let name = options.message_name();
            post_header(pe, to, Weight::default(), Header::Broken { future, cause, name }, None);
        }
        Body::System(message) => post_system(pe, to, message, options.message_name()),
        Body::Callback(_) => unreachable!("it stays on its node"),
    }
}

/// Sends a call that was counted before, whose device arguments were brought to the host first; off the PE that called.
fn post_staged(node: &Arc<Node>, to: PeId, options: CallOptions, call: Call) {
    let Call { target, from, entry, arguments, nocopy, reference } = call;
    let peer = node.topology.node_of(to);
    let nocopy =
        nocopy.map_or_else(Few::new, |nocopy| describing::describe(node, peer, entry, *nocopy)).into_vec();
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

fn post_header(pe: &Pe, to: PeId, weight: Weight, header: Header, arguments: Option<&Arguments>) {
    if arguments.is_some() {
        pe.counters.encodes.add(1);
    }
    let packed = pack(pe, |out| frame::write(out, &header, arguments), || header.describe());
    drop(header);
    post(pe, to, weight, packed);
}

fn post_system(pe: &Pe, to: PeId, message: Box<dyn SystemMessage>, name: Option<MessageName>) {
    if message.has_arguments() {
        pe.counters.encodes.add(1);
    }
    let weight = Weight { lent_bytes: message.lent_bytes(), is_urgent: false };
    let write = |out: &mut Writer<'_>| {
        frame::write_system(out, (message.service(), name), |out| message.write(to, out))
    };
    let packed = pack(pe, write, || message.describe());
    drop(message);
    post(pe, to, weight, packed);
}

/// Packs the message that `write` writes and `describe` names; `None` when its arguments refused to be encoded or panicked, which has ended
/// the job: it was counted, and what it lends and releases is on nobody's list any more, so that nobody may outlive that.
/// Memory that was written is let go of before the message is posted: the answer that hands it back may be quicker than this PE.
#[inline]
fn pack(
    pe: &Pe,
    write: impl FnMut(&mut Writer<'_>) -> Result<(), CodecError>,
    describe: impl FnOnce() -> String,
) -> Option<Packed> {
    let frame = pe.frame.take();
    let packed = panics::catch(|| pe.node.pack(write, frame));
    let packed = packed.map_err(|panic| format!("its arguments panicked while they were written: {panic}"));
    packed.flatten().map_err(|cause| pe.fail(describe(), cause)).ok()
}

/// What a message is for its way, beside its bytes.
#[derive(Clone, Copy, Default)]
pub(super) struct Weight {
    lent_bytes: u64,
    /// Whether it goes before others that wait.
    is_urgent: bool,
}

impl Weight {
    /// Of a call with these options, or a creation.
    #[inline]
    pub(super) fn of_call(options: &CallOptions, lent_bytes: u64) -> Self {
        Self { lent_bytes, is_urgent: options.is_urgent() }
    }
}

/// Sends a packed message to a PE of another node; waits if too much is withheld from that node.
#[inline]
pub(super) fn post(pe: &Pe, to: PeId, weight: Weight, packed: Option<Packed>) {
    let Some(packed) = packed else { return };
    let Weight { lent_bytes, is_urgent } = weight;
    let price = Price { bytes: cost_of(packed.len(), lent_bytes), is_urgent };
    pe.counters.bytes.add(packed.len() as u64);
    let peer = pe.node.topology.node_of(to);
    let mut used = pe.node.post_packed(peer, packed, Some(price));
    used.clear();
    pe.frame.set(used);
    hold_back(&pe.node, peer);
}

/// Descriptors of a call's nocopy arguments, for another node.
fn describe_nocopy(pe: &Pe, to: PeId, entry: &EntryRegistration, nocopy: Nocopy) -> Few<Descriptor> {
    describing::describe(&pe.node, pe.node.topology.node_of(to), entry, nocopy)
}
