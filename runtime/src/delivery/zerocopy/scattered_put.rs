//! Scattered puts: a buffer written to the pieces of a region that a layout selects, one put for each piece, so that nothing between them
//! is touched.

use crate::node::Node;
use crate::node::lending::transfers::Status;
use chare_layout::Raw;
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
pub(crate) fn put_runs(
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
