//! Long copies by a plan, from layout to layout or side by side, which go on in pieces: by this node alone, or together with the process
//! that lent the source.
//!
//! 1. A copy that is worth it is divided: this node takes pieces from the front, the owner of the source, which is asked for help, from
//!    the back, until they meet. Whoever is busy takes fewer, and nobody waits for more than the last piece of the other.
//! 2. The target has to be memory that the owner maps, and both layouts such as travel with a message.
//! 3. When this node has no piece left to take, the target's registration ends, and the copy is over with the last claim on it: the owner
//!    holds one while it writes what it has taken, and no longer. See [`helping`](super::helping) for the owner's side.

use super::planned::{Planned, planned, whole};
use crate::model::envelope::frame::{self, Header};
use crate::model::nocopy::divided::CopyOfDivided;
use crate::model::nocopy::selected::CopyOfSelected;
use crate::model::nocopy::{PostedMemory, ToldLayout};
use crate::node::Node;
use crate::transfer::lend::deregistration;
use crate::transfer::ways;
use chare_layout::Plan;
use chare_lrts::{Completion, Held, Memory, MemoryMut, NodeId, RegionKey, TransferError};
use std::sync::Arc;

/// A copy whose layouts were compared with their memories.
pub(super) struct LongCopy {
    pub(super) planned: Arc<Planned>,
    pub(super) source: Memory,
    pub(super) into: MemoryMut,
    /// The region of another process that the source is, if it is one.
    pub(super) lent: Option<RegionKey>,
}

/// Whether it pays to have the owner of a source help with a copy.
pub(super) fn pays_to_share(node: &Node, lent: &RegionKey, planned: &Planned) -> bool {
    planned.shared().is_some() && node.network.maps(lent.node)
}

/// Whether the owner of a region helps to bring its first bytes to where they were posted.
pub(in crate::transfer) fn is_shared_whole(node: &Node, lent: &RegionKey, posted: &PostedMemory) -> bool {
    let planned = || planned(&whole(lent.len)?, &whole(posted.bytes as u64)?);
    lent.node != node.id
        && ways::is_long(posted.bytes)
        && posted.memory.share().is_some()
        && planned().is_ok_and(|planned| pays_to_share(node, lent, &planned))
}

impl LongCopy {
    /// Carries the copy out, then runs `then` with the bytes that were copied and the memory that they went to, when the source is held
    /// no more.
    pub(super) fn carry_out(
        self,
        node: &Arc<Node>,
        then: impl FnOnce(&Arc<Node>, Result<usize, TransferError>, MemoryMut) + Send + 'static,
    ) {
        let Self { planned, source, into, lent } = self;
        let is_mapped = into.share().is_some();
        let helper =
            lent.filter(|lent| is_mapped && pays_to_share(node, lent, &planned)).zip(planned.shared());
        let into = match helper {
            None => into,
            Some((lent, pieces)) => {
                match node.network.regions().register_divided(into, pieces.len() as u32) {
                    Err(into) => into,
                    Ok((target, own)) => {
                        let copy = CopyOfDivided::new((&planned.plan, pieces), source, own, lent.node);
                        let copy =
                            copy.unwrap_or_else(|error| unreachable!("the layouts were checked: {error}"));
                        return share(node, (lent, target), &planned, copy, then);
                    }
                }
            }
        };
        in_pieces(node, &planned.plan, source, into, then);
    }
}

/// Carries a copy out by this node alone.
pub(super) fn in_pieces(
    node: &Arc<Node>,
    plan: &Plan,
    source: Memory,
    into: MemoryMut,
    then: impl FnOnce(&Arc<Node>, Result<usize, TransferError>, MemoryMut) + Send + 'static,
) {
    let copy = CopyOfSelected::new(plan, source, into);
    let copy = copy.unwrap_or_else(|error| unreachable!("the layouts were checked: {error}"));
    let (copy, then_node) = (Arc::new(copy), Arc::clone(node));
    let pieces = Arc::clone(&copy);
    let then = move |completion: Completion| {
        let copy = Arc::into_inner(copy).expect("the job's handle goes before its end is told");
        then(&then_node, completion.result, copy.into_target());
    };
    node.copy_pieces(pieces, Box::new(then));
}

/// Asks the owner of the source for help, and copies what it does not.
fn share(
    node: &Arc<Node>,
    (lent, target): (RegionKey, RegionKey),
    planned: &Planned,
    copy: CopyOfDivided,
    then: impl FnOnce(&Arc<Node>, Result<usize, TransferError>, MemoryMut) + Send + 'static,
) {
    let asked = Header::Help {
        source: lent,
        from: ToldLayout(Arc::clone(&planned.from)),
        target,
        to: ToldLayout(Arc::clone(&planned.to)),
    };
    ask(node, lent.node, &asked);
    let (copy, then_node) = (Arc::new(copy), Arc::clone(node));
    let pieces = Arc::clone(&copy);
    let then = move |completion: Completion| {
        // It holds the source, and this node's end of the target.
        drop(Arc::into_inner(copy).expect("the job's handle goes before its end is told"));
        let node = Arc::clone(&then_node);
        deregistration::close(&then_node, &target, move |_, held| {
            let Held::Target(memory) = held else { unreachable!("a target was registered") };
            then(&node, completion.result, memory);
        });
    };
    node.copy_pieces(pieces, Box::new(then));
}

/// Sends a request for help.
fn ask(node: &Node, owner: NodeId, request: &Header) {
    if node.has_ended() {
        return;
    }
    match frame::encode(request, None) {
        Ok(frame) => {
            node.outside.sent.add_shared(1);
            node.post(&node.outside, owner, frame);
        }
        Err(cause) => unreachable!("layouts encode: {cause}"),
    }
}
