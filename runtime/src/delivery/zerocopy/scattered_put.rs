//! Scattered puts: a buffer written to the pieces of a region that a layout selects, so that nothing between them is touched: by vectors
//! where the kernel copies the region, run by run under one lease where a network writes it by itself, else by one put for each piece.

use super::selected_read::{carry_out, runs};
use crate::model::nocopy::foreign::{Span, Write};
use crate::node::Node;
use crate::node::lending::transfers::Status;
use chare_layout::{Plan, Raw};
use chare_lrts::claim::ClaimMode;
use chare_lrts::{Completion, Memory, RegionKey, Run, TransferError};
use parking_lot::Mutex;
use std::sync::Arc;

/// Puts of one transfer that are under way at once: as many as a node has open at another. More would wait, and be tried again and again.
const PUTS_MAX: usize = 64;

/// The puts of one transfer, some of which are under way.
struct Puts<F> {
    key: RegionKey,
    memory: Memory,
    /// Those to come: place in the region, place in the memory, bytes.
    rest: std::vec::IntoIter<(u64, usize, usize)>,
    under_way: usize,
    /// Whether a thread begins puts: those that end meanwhile are left to it.
    is_beginning: bool,
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
    let Some((span, plan)) = span_and_plan(place, layout, memory) else {
        let (key, offset) = place;
        finish(Err(TransferError::OutOfRange {
            node: key.node,
            offset,
            len: layout.span(),
            region_len: key.len,
        }));
        return Status::Complete;
    };
    let layout = Arc::clone(layout);
    let copy = span.claim(&node.network, ClaimMode::Write);
    let Some(copy) = copy.and_then(|claimed| Write::new(claimed, &plan, memory.clone()).ok()) else {
        if !node.network.moves_runs(span.key.node, ClaimMode::Write, plan.bytes()) {
            return put_each(node, place, &layout, memory, finish);
        }
        let runs = runs(&plan, |source, target, len| Run { at: target, here: source as usize, len });
        let (then_node, again) = (Arc::clone(node), memory.clone());
        let then = move |completion: Completion| match completion.result {
            Err(TransferError::Refused { .. }) => {
                put_each(&then_node, place, &layout, &again, finish);
            }
            moved => {
                if moved.is_ok() {
                    then_node.outside.vectored.add_shared(1);
                }
                // Whoever hears of the end may write the memory again.
                drop(again);
                finish(moved);
            }
        };
        return node.put_runs((span.key, span.at), (memory.clone(), runs), Box::new(then));
    };
    carry_out(node, copy, move |node, copied, memory| match copied {
        Err(TransferError::Refused { .. }) => put_each(node, place, &layout, &memory, finish),
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

/// The range of the region around what is selected, and the plan that copies there, within it. `None` for bounds that only a peer
/// invents.
fn span_and_plan((key, offset): (RegionKey, u64), layout: &Raw, memory: &Memory) -> Option<(Span, Plan)> {
    let origin = layout.origin();
    let span = Span { key, at: offset.checked_add_signed(origin)?, bytes: layout.span() as usize };
    let within = layout.shifted(-origin).ok()?;
    let plan = Plan::beginning(&Raw::bytes_of(memory.len() as u64).ok()?, &within).ok()?;
    plan.check_bounds(memory.len() as u64, span.bytes as u64).ok()?;
    Some((span, plan))
}

fn put_each(
    node: &Arc<Node>,
    (key, offset): (RegionKey, u64),
    layout: &Raw,
    memory: &Memory,
    finish: impl FnOnce(Result<usize, TransferError>) + Send + 'static,
) -> Status {
    let mut done = 0;
    let run = |(at, len): (i64, u64)| {
        let run = (offset.saturating_add_signed(at), done, len as usize);
        done += len as usize;
        run
    };
    let runs: Vec<_> = layout.runs_within(0, memory.len() as u64).map(run).collect();
    let (memory, rest) = (memory.clone(), runs.into_iter());
    let puts = Puts { key, memory, rest, under_way: 0, is_beginning: true, moved: Ok(0), finish };
    go_on(node, &Arc::new(Mutex::new(Some(puts))))
}

/// Begins puts, until as many are under way as may be, or all are over.
fn go_on<F>(node: &Arc<Node>, puts: &Arc<Mutex<Option<Puts<F>>>>) -> Status
where
    F: FnOnce(Result<usize, TransferError>) + Send + 'static,
{
    loop {
        let mut locked = puts.lock();
        let Some(all) = locked.as_mut() else { return Status::Complete };
        let next = if all.under_way < PUTS_MAX { all.rest.next() } else { None };
        let Some((place, here, len)) = next else {
            all.is_beginning = false;
            if all.under_way > 0 {
                return Status::Pending;
            }
            let over = locked.take();
            drop(locked);
            if let Some(Puts { memory, moved, finish, .. }) = over {
                // Whoever hears of the end may write the memory again.
                drop(memory);
                finish(moved);
            }
            return Status::Complete;
        };
        all.under_way += 1;
        let (key, from) = (all.key, all.memory.slice(here, len));
        drop(locked);
        let (then_node, then_puts) = (Arc::clone(node), Arc::clone(puts));
        let then = move |completion: Completion| {
            let goes_on = then_puts.lock().as_mut().is_some_and(|puts| puts.end(completion.result));
            if goes_on {
                go_on(&then_node, &then_puts);
            }
        };
        node.put((key, place), from, Box::new(then));
    }
}

impl<F> Puts<F> {
    /// Notes the end of a put; the first error ends those to come. Returns whether the caller is to begin more.
    fn end(&mut self, result: Result<usize, TransferError>) -> bool {
        self.moved = match (std::mem::replace(&mut self.moved, Ok(0)), result) {
            (Ok(moved), Ok(more)) => Ok(moved + more),
            (Err(cause), _) | (Ok(_), Err(cause)) => {
                self.rest = Vec::new().into_iter();
                Err(cause)
            }
        };
        self.under_way -= 1;
        !std::mem::replace(&mut self.is_beginning, true)
    }
}
