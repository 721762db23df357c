//! The sender's side of nocopy arguments that leave their process: decides between eager and rendezvous, lends memory, and hands buffers
//! back.

use super::deregistration;
use crate::model::error::JobError;
use crate::model::nocopy::{
    Descriptor, EagerBytes, HandBack, Keep, Leaving, Lender, LentLayout, NocopyKind, OutgoingMemory,
    Registration, Release, awaited, is_answered,
};
use crate::node::Node;
use crate::node::lending::known_layouts::{Way, is_short};
use crate::transfer::copy::laid_out;
use chare_layout::{Raw, lines};
use chare_lrts::claim::ClaimMode;
use chare_lrts::{Lrts, Memory, MemoryMut, NodeId};
use parking_lot::Mutex;
use std::sync::Arc;

/// Largest arguments, in bytes, that travel with the message, whatever else the peer could do with them: for memory that the peer maps,
/// that the kernel copies, that a network fetches by itself, and that messages carry. Measured by the bench `crossover`, on a machine
/// with two processors, where both ways cost the same: mapping and its release take 1.2 us at any size, as a message of 1,300 bytes does;
/// a copy by the kernel and its release 3 us, as a message of 5 KB does; a fetch of a network as much as a message of 30 KB or more. Over
/// TCP a message asks, another releases, and the data are messages all the same: up to 256 KiB that is slower than sending the data
/// along, and beyond it is quicker, because a message is put together first.
const EAGER_MAPPED_BYTES: usize = 1024;
const EAGER_COPIED_BYTES: usize = 4096;
const EAGER_FETCHED_BYTES: usize = 32 << 10;
const EAGER_CARRIED_BYTES: usize = 256 << 10;

/// Bytes of a line of the cache.
const LINE_BYTES: f64 = 64.0;

/// Whether the bytes of an argument travel with its message: because the sender wishes so, or because fetching them from `peer` would
/// cost more than copying them.
pub(crate) fn is_eager(
    node: &Node,
    (memory, bytes): (&Memory, usize),
    registration: Registration,
    peer: NodeId,
) -> bool {
    if registration == Registration::None {
        return true;
    }
    let limit_bytes = if is_mapped(node, memory, peer) {
        EAGER_MAPPED_BYTES
    } else if node.network.copies(peer) {
        EAGER_COPIED_BYTES
    } else if node.network.is_one_sided(peer) {
        EAGER_FETCHED_BYTES
    } else {
        // Several arguments are to fit into a frame: an argument that does not is fetched after all.
        EAGER_CARRIED_BYTES.min(node.frame_bytes_max / 2)
    };
    bytes <= limit_bytes
}

/// Whether so many bytes travel with their message whoever takes them: the least of the limits.
pub(crate) fn is_always_eager(bytes: usize) -> bool {
    bytes <= EAGER_MAPPED_BYTES
}

/// Whether a peer reads this memory in place.
fn is_mapped(node: &Node, memory: &Memory, peer: NodeId) -> bool {
    memory.share().is_some() && node.network.maps(peer)
}

/// Least bytes of what is packed for being thin. Up to there, what a selection touches stays in a second cache, whoever collects it.
const THIN_BYTES_MIN: u64 = 64 << 10;

/// Part of the lines touched (1 / `THIN_PART`) that are wanted of a thin selection, at most. Two processors that each wait for the lines
/// of their own side take less then than one that waits for all: measured by the bench `layouts` with doubles of a line each (1.4 times
/// quicker), and with every second and every fourth double (slower).
const THIN_PART: f64 = 5.0;

/// Whether a layout selects so little of the lines that it touches that it is packed sooner than read by another processor.
fn is_thin(layout: &Raw) -> bool {
    let bytes = layout.bytes();
    bytes >= THIN_BYTES_MIN && lines(layout) * LINE_BYTES >= THIN_PART * bytes as f64
}

/// Whether what a layout selects of an argument is packed by its sender. Lines are counted last: of lists, one by one.
fn is_packed(node: &Node, peer: NodeId, kind: NocopyKind, (leaving, layout): (&Leaving, &Raw)) -> bool {
    if node.methods.always_pack() {
        return true;
    }
    if is_mapped(node, &leaving.memory, peer) {
        // A view copies nothing, so nothing is to be packed for it where it can be had. With what travels with its layout this node can
        // help.
        return kind != NocopyKind::Viewed && !is_short(layout) && is_thin(layout);
    }
    // Whoever reads around the runs, or registers all that there is, must not meet what is no memory.
    if leaving.terms.is_several {
        return true;
    }
    if node.network.copies(peer) {
        return node.methods.is_packed(layout);
    }
    !node.network.moves_runs(peer, ClaimMode::Read, layout.bytes())
        || node.methods.is_packed_for_network(layout, leaving.memory.len() as u64)
}

/// Whether what many take by a layout is packed for those, too, who map the memory: then its owner collects the lines once for all.
pub(in crate::transfer) fn is_packed_for_many(node: &Node, kind: NocopyKind, layout: &Raw) -> bool {
    node.methods.always_pack() || kind != NocopyKind::Viewed && is_thin(layout)
}

/// Takes charge of the buffer that the caller gave.
pub(crate) fn take_charge(node: &Arc<Node>, outgoing: OutgoingMemory) -> Leaving {
    let OutgoingMemory { memory, layout, dealt: _, terms, hand_back } = outgoing;
    // Empty memory is lent to no receiver; and all empty blocks may have one address.
    let is_held = terms.registration == Registration::Now && !memory.is_empty();
    let held = is_held && node.transfers.hold(node.network.regions(), &memory);
    let held = held.then(|| memory.clone());
    let offered = layout.as_ref().map_or(memory.len() as u64, |layout| layout.bytes());
    let release =
        (hand_back.is_some() || held.is_some()).then(|| release(node, offered, held, hand_back, None));
    let leaving = Leaving { memory, layout, release, terms, is_copy: false, lent: None };
    if terms.registration == Registration::Pooled { pool(node, leaving) } else { leaving }
}

/// A release that ends the registration of the memory `held`, then hands the buffer back to a caller that waits for it: the entry that is
/// named in words, if it is a device's buffer.
pub(in crate::transfer) fn release(
    node: &Arc<Node>,
    offered: u64,
    held: Option<Memory>,
    hand_back: Option<HandBack>,
    whose: Option<Arc<str>>,
) -> Arc<Release> {
    // In a mutex because a release is shared; the closure is run once.
    let (node, is_awaited, hand_back) = (Arc::clone(node), hand_back.is_some(), Mutex::new(hand_back));
    let hand_back = move |node: &Node, taken| {
        if let Some(hand_back) = hand_back.into_inner() {
            hand_back(taken, &mut |callback, sent| node.fire(callback, sent));
        }
    };
    Release::of(whose, offered, is_awaited, move |taken| {
        let ended = held.and_then(|memory| node.transfers.let_go(node.network.regions(), &memory));
        match ended {
            Some(ended) => deregistration::end(&node, ended, move |node| hand_back(node, taken)),
            None => hand_back(&node, taken),
        }
    })
}

/// The same bytes in the runtime's pool, if there is one.
fn pool(node: &Node, leaving: Leaving) -> Leaving {
    if leaving.memory.share().is_some() || !node.network.capabilities().view {
        return leaving;
    }
    if leaving.layout.is_some() {
        return laid_out::packed(node, leaving);
    }
    let mut pooled = node.network.allocate(leaving.memory.len());
    pooled.as_mut_slice().copy_from_slice(leaving.memory.as_slice());
    node.outside.count_copy(pooled.len());
    Leaving { memory: pooled.freeze(), lent: None, ..leaving }
}

/// Describes an argument in memory of the host. Bytes that travel along are complete at once, unless the receiver's post may be shorter and
/// the sender wants to know.
pub(crate) fn describe_one(node: &Node, peer: NodeId, kind: NocopyKind, leaving: Leaving) -> Descriptor {
    let what = (&leaving.memory, leaving.bytes());
    if is_eager(node, what, leaving.terms.registration, peer) {
        let Leaving { memory, layout, release, .. } = leaving;
        return inline(node, kind, laid_out::eager(node, memory, layout.as_ref()), release);
    }
    let leaving = keeping(node, peer, leaving);
    let Some(layout) = &leaving.layout else { return lend_or_copy(node, leaving, None) };
    let is_packed = is_packed(node, peer, kind, (&leaving, layout));
    let way = if is_packed { Way::Packed } else { node.known_layouts.way(peer, layout) };
    match way {
        Way::Lent(layout) => lend_or_copy(node, leaving, Some(layout)),
        Way::Packed => lend_or_copy(node, laid_out::packed(node, leaving), None),
    }
}

/// The same argument; its registration is kept if the peer maps the memory. A sender who waits for its buffer mostly writes it next, for
/// which the registration would have to end.
fn keeping(node: &Node, peer: NodeId, mut leaving: Leaving) -> Leaving {
    if leaving.terms.keep == Keep::No && leaving.release.is_none() && is_mapped(node, &leaving.memory, peer) {
        leaving.terms.keep = Keep::IfRoom;
    }
    leaving
}

/// Lends memory to one receiver, with its layout as it travels, if it has one; copies the memory when no more can be registered, and warns
/// of that once.
pub(crate) fn lend_or_copy(node: &Node, leaving: Leaving, layout: Option<LentLayout>) -> Descriptor {
    let bytes = leaving.bytes() as u64;
    if let Err(cause) = node.note_lent(bytes) {
        let (what, pe) = (format!("sending a buffer of {bytes} bytes"), node.topology.pe(node.id, 0));
        node.fail(JobError::Delivery { what, pe, node: node.id, cause });
        // The entry may go on until its process ends, and what it sends must not be kept: it would take the memory that is left.
        drop(leaving);
        return Descriptor::Inline {
            bytes: EagerBytes::whole(MemoryMut::from_vec(Vec::new()).freeze()),
            lender: None,
        };
    }
    let is_awaited = awaited(leaving.release.as_ref()).is_some();
    match node.transfers.lend(node.network.regions(), leaving) {
        Ok((key, token)) => Descriptor::Lent { key, layout, token, is_awaited },
        Err(leaving) => {
            if node.transfers.is_first_copy() {
                node.network.warn(
                    "no more memory can be registered, so buffers are copied into messages, which is slower; drop registered buffers that are no longer used"
                        .to_owned(),
                );
            }
            let Leaving { memory, release, .. } = laid_out::packed(node, leaving);
            node.outside.count_copy(memory.len());
            // The receiver answers, as it does for lent memory.
            let lender = release.map(|release| answering(node, release));
            Descriptor::Inline { bytes: EagerBytes::whole(memory), lender }
        }
    }
}

/// Describes an argument by its bytes. A sender that waits to learn how much of a posted argument is taken learns it from the receiver;
/// any other sender has its buffer back when the bytes have been packed.
pub(crate) fn inline(
    node: &Node,
    kind: NocopyKind,
    bytes: EagerBytes,
    release: Option<Arc<Release>>,
) -> Descriptor {
    if is_answered(kind, release.as_ref()) {
        let lender = release.map(|release| answering(node, release));
        return Descriptor::Inline { bytes, lender };
    }
    Descriptor::Inline { bytes: bytes.until_written(release), lender: None }
}

/// The name under which a receiver of bytes that need no registration here says how many of them it took.
pub(in crate::transfer) fn answering(node: &Node, release: Arc<Release>) -> Lender {
    Lender { node: node.id, token: node.transfers.relay(Some(release)) }
}
