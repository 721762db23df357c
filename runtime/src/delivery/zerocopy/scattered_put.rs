//! Scattered puts: a buffer written to the pieces of a region that a layout selects, so that nothing between them is touched: by vectors
//! where the kernel copies the region, else by one put for each piece.

use super::selected_read::carry_out;
use crate::model::nocopy::foreign::{Span, Write};
use crate::node::Node;
use crate::node::lending::transfers::Status;
use chare_layout::{Plan, Raw};
use chare_lrts::claim::ClaimMode;
use chare_lrts::{Completion, Memory, RegionKey, TransferError};
use parking_lot::Mutex;
use std::sync::Arc;

/// The puts of one transfer that are under way.
struct Unfinished<F> {
    missing: usize,
    moved: Result<usize, TransferError>,
    finish: F,
}

/// Writes memory to the first pieces that a layout selects of a region, from `offset` on; `finish` gets the number of bytes, or the first
/// error, when no put is under way any more.
pub(crate) fn put_scattered(
    node: &Arc<Node>,
    place: (RegionKey, u64),
    layout: &Arc<Raw>,
    memory: &Memory,
    finish: impl FnOnce(Result<usize, TransferError>) + Send + 'static,
) -> Status {
    let Some(copy) = vectors(node, place, layout, memory) else {
        return put_runs(node, place, layout, memory, finish);
    };
    let layout = Arc::clone(layout);
    carry_out(node, copy, move |node, copied, memory| match copied {
        Err(TransferError::Refused { .. }) => put_runs(node, place, &layout, &memory, finish),
        copied => {
            if let Ok(bytes) = copied {
                node.network.count_foreign(place.0.node, bytes);
                node.outside.vectored.add_shared(1);
            }
            finish(copied);
            Status::Complete
        }
    })
}

/// The copy that writes a buffer by vectors, where the kernel copies the region.
fn vectors(node: &Node, (key, offset): (RegionKey, u64), layout: &Raw, memory: &Memory) -> Option<Write> {
    let origin = layout.origin();
    let span = Span { key, at: offset.checked_add_signed(origin)?, bytes: layout.span() as usize };
    let claimed = span.claim(&node.network, ClaimMode::Write)?;
    let within = layout.shifted(-origin).ok()?;
    let plan = Plan::beginning(&Raw::bytes_of(memory.len() as u64).ok()?, &within).ok()?;
    Write::new(claimed, &plan, memory.clone()).ok()
}

fn put_runs(
    node: &Arc<Node>,
    (key, offset): (RegionKey, u64),
    layout: &Raw,
    memory: &Memory,
    finish: impl FnOnce(Result<usize, TransferError>) + Send + 'static,
) -> Status {
    let runs: Vec<(u64, usize)> = layout
        .runs_within(0, memory.len() as u64)
        .map(|(at, len)| (offset.saturating_add_signed(at), len as usize))
        .collect();
    if runs.is_empty() {
        finish(Ok(0));
        return Status::Complete;
    }
    let unfinished = Unfinished { missing: runs.len(), moved: Ok(0), finish };
    let unfinished = Arc::new(Mutex::new(Some(unfinished)));
    let (mut done, mut status) = (0, Status::Complete);
    for (place, len) in runs {
        let unfinished = Arc::clone(&unfinished);
        let then = move |completion: Completion| {
            let over = {
                let mut unfinished = unfinished.lock();
                unfinished.take_if(|unfinished| unfinished.add(completion.result))
            };
            if let Some(Unfinished { moved, finish, .. }) = over {
                finish(moved);
            }
        };
        let started = node.put((key, place), memory.slice(done, len), Box::new(then));
        if started == Status::Pending {
            status = Status::Pending;
        }
        done += len;
    }
    status
}

impl<F> Unfinished<F> {
    /// Adds a put that is over. Returns whether it was the last.
    fn add(&mut self, result: Result<usize, TransferError>) -> bool {
        self.moved = match (std::mem::replace(&mut self.moved, Ok(0)), result) {
            (Ok(moved), Ok(more)) => Ok(moved + more),
            (Err(cause), _) | (Ok(_), Err(cause)) => Err(cause),
        };
        self.missing -= 1;
        self.missing == 0
    }
}
