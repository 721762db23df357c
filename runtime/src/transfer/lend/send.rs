//! The sender's side of nocopy arguments that leave their process: describes them to a peer, lends memory, and hands buffers back.

use super::deregistration;
use crate::model::error::JobError;
use crate::model::nocopy::{
    Descriptor, EagerBytes, HandBack, Keep, Leaving, Lender, LentLayout, NocopyKind, OutgoingMemory,
    Registration, Release, ToldLayout, awaited, is_answered,
};
use crate::node::Node;
use crate::transfer::copy::laid_out::say;
use crate::transfer::copy::packing;
use crate::transfer::copy::rates::rates;
use crate::transfer::ways::{self, Access, Choice};
use chare_layout::Raw;
use chare_lrts::claim::ClaimMode;
use chare_lrts::{Lrts, Memory, MemoryMut, NodeId};
use parking_lot::Mutex;
use std::sync::Arc;

/// Whether the bytes of an argument travel with its message to `peer`.
pub(in crate::transfer) fn eager(
    node: &Node,
    (memory, bytes): (&Memory, usize),
    registration: Registration,
    peer: NodeId,
) -> Option<Choice> {
    ways::eager(registration, bytes, node.frame_bytes_max, || access(node, memory, peer))
}

/// How a peer reaches memory of this node.
pub(in crate::transfer) fn access(node: &Node, memory: &Memory, peer: NodeId) -> Access {
    if is_mapped(node, memory, peer) {
        Access::Mapped
    } else if node.network.copies(peer) {
        Access::Copied
    } else if node.network.is_one_sided(peer) {
        Access::Fetched
    } else {
        Access::Carried
    }
}

/// Whether a peer reads this memory in place.
fn is_mapped(node: &Node, memory: &Memory, peer: NodeId) -> bool {
    memory.share().is_some() && node.network.maps(peer)
}

/// A layout as it travels to a peer with what it selects, if the peer is to have it so: short ones each time, long ones once.
pub(in crate::transfer) fn tell(node: &Node, peer: NodeId, layout: &Arc<Raw>) -> Option<LentLayout> {
    if ways::is_short(layout) {
        return Some(LentLayout::Told(ToldLayout(Arc::clone(layout))));
    }
    let (told, news) = node.known_layouts.tell(peer, layout);
    if let Some(news) = news {
        say(node, news).expect("news of a layout are short");
    }
    told
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
        return packing::packed(node, leaving);
    }
    let mut pooled = node.network.allocate(leaving.memory.len());
    pooled.as_mut_slice().copy_from_slice(leaving.memory.as_slice());
    node.outside.count_copy(pooled.len());
    Leaving { memory: pooled.freeze(), lent: None, ..leaving }
}

/// Describes an argument in memory of the host, and says which way it goes. Bytes that travel along are complete at once, unless the
/// receiver's post may be shorter and the sender wants to know.
pub(crate) fn describe_one(
    node: &Node,
    peer: NodeId,
    kind: NocopyKind,
    leaving: Leaving,
) -> (Choice, Descriptor) {
    let what = (&leaving.memory, leaving.bytes());
    if let Some(choice) = eager(node, what, leaving.terms.registration, peer) {
        let Leaving { memory, layout, release, .. } = leaving;
        return (choice, inline(node, kind, packing::eager(node, memory, layout.as_ref()), release));
    }
    let access = access(node, &leaving.memory, peer);
    let leaving = keeping(access, leaving);
    let (choice, descriptor) = match &leaving.layout {
        None => (ways::lent(access), lend_or_copy(node, leaving, None)),
        Some(layout) => match way_of_selected(node, peer, kind, (&leaving, layout), access) {
            Ok(told) => (ways::lent(access), lend_or_copy(node, leaving, Some((peer, told)))),
            Err(packed) => (packed, lend_or_copy(node, packing::packed(node, leaving), None)),
        },
    };
    let is_lent = matches!(descriptor, Descriptor::Lent { .. });
    (if is_lent { choice } else { ways::UNREGISTRABLE }, descriptor)
}

/// The layout as it travels with what it selects of an argument.
///
/// # Errors
/// Why it is packed instead.
fn way_of_selected(
    node: &Node,
    peer: NodeId,
    kind: NocopyKind,
    (leaving, layout): (&Leaving, &Arc<Raw>),
    access: Access,
) -> Result<LentLayout, Choice> {
    let (memory_bytes, is_several) = (leaving.memory.len() as u64, leaving.terms.is_several);
    let selected = ways::Leaving { kind, layout, memory_bytes, is_several };
    let moves_runs = || node.network.moves_runs(peer, ClaimMode::Read, layout.bytes());
    match ways::packed(node.layout_method, selected, access, moves_runs, rates) {
        Some(packed) => Err(packed),
        None => tell(node, peer, layout).ok_or(ways::UNTOLD),
    }
}

/// The same argument; its registration is kept if the peer maps the memory. A sender who waits for its buffer mostly writes it next, for
/// which the registration would have to end.
fn keeping(access: Access, mut leaving: Leaving) -> Leaving {
    if leaving.terms.keep == Keep::No && leaving.release.is_none() && access == Access::Mapped {
        leaving.terms.keep = Keep::IfRoom;
    }
    leaving
}

/// Lends memory to one receiver, with its layout as it travels to a peer, if it has one; copies the memory when no more can be registered, and
/// warns of that once.
pub(crate) fn lend_or_copy(
    node: &Node,
    leaving: Leaving,
    layout: Option<(NodeId, LentLayout)>,
) -> Descriptor {
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
        Ok((key, token)) => {
            let layout = layout.map(|(_, layout)| layout);
            Descriptor::Lent { key, layout, token, is_awaited }
        }
        Err(leaving) => {
            if let Some((peer, layout)) = layout {
                node.known_layouts.take_back(peer, &layout);
            }
            chare_lrts::sometimes!("memory that could not be registered was copied into its message");
            if node.transfers.is_first_copy() {
                node.network.warn(
                    "no more memory can be registered, so buffers are copied into messages, which is slower; drop registered buffers that are no longer used"
                        .to_owned(),
                );
            }
            let Leaving { memory, release, .. } = packing::packed(node, leaving);
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
