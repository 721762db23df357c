//! Remote memory: memory that another node has lent to this one, which reads it in place or fetches it, then releases it.
//!
//! The owner's description of the memory is an allegation until the network has checked it.

use crate::model::envelope::frame::{self, Header};
use crate::model::error::JobError;
use crate::model::nocopy::{Lender, Release};
use crate::node::Node;
use crate::node::lending::transfers::TakenBack;
use crate::pe::Pe;
use crate::transfer::lend::deregistration;
use crate::transfer::ways;
use chare_layout::Raw;
use chare_lrts::{Completion, Entering, Lrts, Memory, MemoryMut, RegionKey, Token, TransferError};
use std::sync::Arc;

/// The whole of a lent region in place, where it can be mapped, of which a layout selects what is touched.
///
/// # Errors
/// A key that names nothing, in words.
pub(crate) fn view(node: &Node, key: &RegionKey, layout: Option<&Raw>) -> Result<Option<Memory>, String> {
    let Ok(len) = usize::try_from(key.len) else { return Ok(None) };
    view_range(node, key, (0, len), layout).map_err(|error| error.to_string())
}

/// The same of a range of a region.
///
/// # Errors
/// As a get would fail.
pub(in crate::transfer) fn view_range(
    node: &Node,
    key: &RegionKey,
    (offset, len): (u64, usize),
    layout: Option<&Raw>,
) -> Result<Option<Memory>, TransferError> {
    let entering = if layout.is_some_and(ways::is_sparse) { Entering::AsUsed } else { Entering::AtOnce };
    node.network.view(key, offset, len, entering)
}

/// Memory for the whole of a region: `into`, or the runtime's. Made before the owner is asked, so the region's length is still an
/// allegation.
///
/// # Errors
/// A length that does not fit, in words.
pub(crate) fn landing(node: &Node, key: &RegionKey, into: Option<MemoryMut>) -> Result<MemoryMut, String> {
    let none = || format!("{} announces {} bytes, which {} has no memory for", key.node, key.len, node.id);
    match into {
        Some(into) if into.len() as u64 != key.len => {
            Err(format!("{} bytes for a value of {}", key.len, into.len()))
        }
        Some(into) => Ok(into),
        None => {
            node.note_fetched(key.len).map_err(|cause| format!("{}: {cause}", none()))?;
            node.network.allocate_announced(key.len).ok_or_else(none)
        }
    }
}

/// Memory of the runtime for a length that a peer says.
///
/// # Errors
/// When there is no such memory, in words.
pub(in crate::transfer) fn room(node: &Node, bytes: u64) -> Result<MemoryMut, String> {
    node.note_fetched(bytes)?;
    let none = || format!("a layout selects {bytes} bytes, which {} has no memory for", node.id);
    node.network.allocate_announced(bytes).ok_or_else(none)
}

/// Fills the first bytes of memory from a region, from `offset` on, then runs `then` with the memory; a transfer that fails ends the job, with an error in
/// which `what` names the transfer.
pub(crate) fn fetch(
    node: &Arc<Node>,
    what: impl FnOnce() -> String + Send + 'static,
    (key, offset): (RegionKey, u64),
    (into, bytes): (MemoryMut, usize),
    then: impl FnOnce(&Arc<Node>, MemoryMut) + Send + 'static,
) {
    let then_node = Arc::clone(node);
    let then = move |completion: Completion| match (completion.result, completion.memory) {
        (Ok(_), Some(memory)) => then(&then_node, memory),
        (Err(cause), _) => then_node.fail(JobError::Transfer { what: what(), node: then_node.id, cause }),
        (Ok(_), None) => unreachable!("a get hands its memory back"),
    };
    node.get((key, offset), (into, bytes), Box::new(then));
}

/// Tells a lender that its memory is free again, and how many bytes of the memory were taken.
pub(crate) fn send_release(node: &Node, lender: Lender, bytes: u64) {
    if !node.has_ended() {
        node.outside.sent.add_shared(1);
        post_release(node, lender, bytes);
    }
}

fn post_release(node: &Node, lender: Lender, bytes: u64) {
    if lender.node == node.id {
        // The call has come back to the node that made it, from the node where its chare was thought to be.
        if let Err(cause) = released(node, None, lender.token, bytes) {
            node.fail(JobError::Undecodable { peer: node.id, node: node.id, cause });
        }
        return;
    }
    match frame::encode(&Header::Released { token: lender.token, bytes }, None) {
        Ok(frame) => node.post(&node.outside, lender.node, frame),
        Err(cause) => unreachable!("a token encodes: {cause}"),
    }
}

/// Takes memory of this node back that a receiver has released, which has taken the first `bytes` of it; counted by the PE that polls, if one
/// does.
///
/// # Errors
/// A token that is not out, in words.
pub(crate) fn released(node: &Node, polling: Option<&Pe>, token: Token, bytes: u64) -> Result<(), String> {
    let TakenBack { ended, release } = node.transfers.take_back(node.network.regions(), token)?;
    if let Some(release) = &release {
        release.take(bytes);
    }
    match ended {
        Some(ended) => deregistration::end(node, ended, |_| drop(release)),
        None => drop(release),
    }
    match polling {
        Some(pe) => pe.counters.processed.add(1),
        None => node.outside.processed.add_shared(1),
    }
    Ok(())
}

/// Ends registrations of lent memory that were kept for a next time that cannot come.
pub(crate) fn sweep(node: &Node) {
    node.transfers.sweep().into_iter().for_each(|ended| deregistration::end(node, ended, |_| ()));
}

/// A release that tells a lender, when the last holder is done, how many of the `offered` bytes were taken; on a PE, when the PE's step
/// is over.
pub(crate) fn release_to(node: &Arc<Node>, lender: Lender, offered: u64) -> Arc<Release> {
    let node = Arc::clone(node);
    Release::new(offered, true, move |taken| release_after_step(&node, lender, taken))
}

/// Memory that was lent, as the receiver knows who is to hear of its end.
#[derive(Clone, Copy)]
pub(crate) struct Loan {
    pub(crate) lender: Lender,
    /// Whether somebody waits for the end.
    pub(crate) is_awaited: bool,
}

impl Loan {
    /// Tells the lender that its memory is free again, and how many bytes of the memory were taken: at once if somebody waits for that,
    /// else behind the messages of the PE's step, of which the lender mostly waits for one.
    pub(crate) fn end(self, node: &Arc<Node>, bytes: u64) {
        if self.is_awaited {
            send_release(node, self.lender, bytes);
        } else {
            release_after_step(node, self.lender, bytes);
        }
    }
}

/// Sends a release when the step of the PE is over, or at once where none runs.
fn release_after_step(node: &Arc<Node>, lender: Lender, bytes: u64) {
    let is_deferred = Pe::try_current(|pe| Arc::ptr_eq(&pe.node, node) && defer(pe, lender, bytes));
    if is_deferred != Some(true) {
        send_release(node, lender, bytes);
    }
}

/// Defers a release until the PE's step is over, and counts it as sent. Returns whether it was deferred: not when the job is over.
fn defer(pe: &Pe, lender: Lender, bytes: u64) -> bool {
    let defers = !pe.node.has_ended();
    if defers {
        pe.counters.sent.add(1);
        pe.releases.add(lender, bytes);
        pe.look_soon();
    }
    defers
}

/// Sends the releases that steps of the PE have collected.
#[inline]
pub(crate) fn send_releases(pe: &Pe) {
    if !pe.releases.is_empty() {
        send_each_release(pe);
    }
}

#[inline(never)]
fn send_each_release(pe: &Pe) {
    std::iter::from_fn(|| pe.releases.pop())
        .for_each(|(lender, bytes)| post_release(&pe.node, lender, bytes));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::in_process::Job;
    use crate::model::nocopy::Leaving;

    #[test]
    fn an_end_that_nobody_waits_for_is_told_when_the_step_is_over() {
        let code = Job::in_process(1, 1).run(|| async {
            let node = Pe::current(|pe| Arc::clone(&pe.node));
            for is_awaited in [true, false] {
                let leaving = Leaving::plain(MemoryMut::heap_zeroed(8).freeze(), None);
                let lent = node.transfers.lend(node.network.regions(), leaving);
                let (_, token) = lent.unwrap_or_else(|_| unreachable!("there is room"));
                Loan { lender: Lender { node: node.id, token }, is_awaited }.end(&node, 8);
                let waits = Pe::current(|pe| !pe.releases.is_empty());
                assert_eq!(waits, !is_awaited);
            }
        });
        assert_eq!(code.expect("the job runs"), 0);
    }
}
