//! Selected reads: what a layout selects of another node's memory that cannot be mapped, brought to where it is wanted.
//!
//! 1. Where the kernel copies the memory, it is read by vectors or by the sieve, whichever is quicker; a long one in pieces.
//! 2. Elsewhere, and where the kernel refuses half-way, the whole span of the selection is fetched as other memory is, and the selection
//!    copied from there.

use super::planned::planned;
use super::remote_memory::room;
use crate::model::nocopy::foreign::{CopyOfForeign, Read, Span};
use crate::model::nocopy::selected;
use crate::node::Node;
use crate::node::lending::transfers::Status;
use chare_layout::{LayoutError, Plan, Raw};
use chare_lrts::claim::ClaimMode;
use chare_lrts::reach::{LONG_BYTES_MIN, PiecewiseCopy};
use chare_lrts::{Completion, Memory, MemoryMut, RegionKey, TransferError};
use std::sync::Arc;

/// A selection of a peer's region, and how it is wanted here.
pub(super) struct Selected {
    span: Span,
    /// Counted from the span's first byte.
    from: Arc<Raw>,
    to: Arc<Raw>,
    plan: Arc<Plan>,
}

impl Selected {
    /// What `from` selects of a region, from `offset` on, to be brought to where `to` says, as far as the shorter of the two goes. The
    /// layouts were compared with the lengths of their memories.
    ///
    /// # Errors
    /// Bounds that only a peer invents.
    pub(super) fn new(
        (key, offset): (RegionKey, u64),
        from: Arc<Raw>,
        to: Arc<Raw>,
    ) -> Result<Self, LayoutError> {
        let (origin, bytes) = (from.origin(), from.span() as usize);
        let from = if origin == 0 { from } else { Arc::new(from.shifted(-origin)?) };
        let plan = Arc::clone(&planned(&from, &to)?.plan);
        Ok(Self { span: Span { key, at: offset.saturating_add_signed(origin), bytes }, from, to, plan })
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Brings it into memory. `finish` gets the memory, and how many bytes came, however the transfer ends.
    pub(super) fn read(
        self,
        node: &Arc<Node>,
        into: MemoryMut,
        finish: impl FnOnce(&Arc<Node>, Result<usize, TransferError>, MemoryMut) + Send + 'static,
    ) -> Status {
        let Some(claimed) = self.span.claim(&node.network, ClaimMode::Read) else {
            return self.fetch(node, into, finish);
        };
        let is_sieved = node.methods.is_sieved(&self.from, &self.to);
        let copy = Read::new(claimed, (&self.plan, is_sieved), into);
        let copy = copy.unwrap_or_else(|error| unreachable!("the layouts were checked: {error}"));
        carry_out(node, copy, move |node, copied, into| {
            if let Err(TransferError::Refused { .. }) = copied {
                return self.fetch(node, into, finish);
            }
            if let Ok(bytes) = copied {
                node.network.count_foreign(self.span.key.node, bytes);
                node.outside.count_copy(bytes);
                let count = if is_sieved { &node.outside.sieved } else { &node.outside.vectored };
                count.add_shared(1);
            }
            finish(node, copied, into);
            Status::Complete
        })
    }

    /// Fetches the span, and copies the selection from there.
    fn fetch(
        self,
        node: &Arc<Node>,
        mut into: MemoryMut,
        finish: impl FnOnce(&Arc<Node>, Result<usize, TransferError>, MemoryMut) + Send + 'static,
    ) -> Status {
        let Span { key, at, bytes } = self.span;
        let room = match room(node, bytes as u64) {
            Ok(room) => room,
            Err(cause) => {
                finish(node, Err(TransferError::Refused { node: key.node, cause }), into);
                return Status::Complete;
            }
        };
        let then_node = Arc::clone(node);
        let then = move |completion: Completion| {
            let moved = completion.result.map(|fetched| {
                let source = completion.memory.expect("a get hands its memory back").freeze();
                then_node.outside.count_copy(fetched);
                then_node.outside.sieved.add_shared(1);
                scatter(&self.plan, &source, &mut into);
                self.plan.bytes() as usize
            });
            finish(&then_node, moved, into);
        };
        node.get((key, at), (room, bytes), Box::new(then))
    }
}

/// Carries a copy of foreign memory out, a long one in pieces, then runs `then` with the bytes that were copied and the memory at this end.
pub(super) fn carry_out<M: Send + Sync + 'static>(
    node: &Arc<Node>,
    mut copy: CopyOfForeign<M>,
    then: impl FnOnce(&Arc<Node>, Result<usize, TransferError>, M) -> Status + Send + 'static,
) -> Status
where
    CopyOfForeign<M>: PiecewiseCopy,
{
    if copy.bytes_of_all() < LONG_BYTES_MIN {
        let copied = copy.copy_all();
        return then(node, copied, copy.into_here());
    }
    let (copy, then_node) = (Arc::new(copy), Arc::clone(node));
    let pieces = Arc::clone(&copy);
    let then = move |completion: Completion| {
        let copy = Arc::into_inner(copy).expect("the job's handle goes before its end is told");
        then(&then_node, completion.result, copy.into_here());
    };
    node.copy_pieces(pieces, Box::new(then));
    Status::Pending
}

/// Copies by a plan that was made of the layouts of both memories.
pub(super) fn scatter(plan: &Plan, source: &Memory, into: &mut MemoryMut) {
    let copied = selected::copy(plan, source, into);
    copied.unwrap_or_else(|error| unreachable!("the layouts were checked: {error}"));
}
