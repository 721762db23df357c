//! Scattered puts: a buffer written to the pieces of a region that a layout selects, so that nothing between them is touched: by vectors
//! where the kernel copies the region, run by run under one lease where a network writes it by itself, else by one put for each piece.

use super::selected_read::{carry_out, runs};
use super::series::{Begin, SeriesParts, carry_out_each};
use crate::node::Node;
use crate::node::lending::foreign::{Span, Write};
use crate::node::lending::transfers::Status;
use chare_layout::{Plan, Raw};
use chare_lrts::claim::ClaimMode;
use chare_lrts::{Completion, Memory, RegionKey, Run, TransferError};
use std::sync::Arc;

/// Puts of the pieces.
struct Puts<F> {
    key: RegionKey,
    memory: Memory,
    /// Those to come: place in the region, place in the memory, bytes.
    rest: std::vec::IntoIter<(u64, usize, usize)>,
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
    carry_out_each(node, Puts { key, memory: memory.clone(), rest: runs.into_iter(), finish })
}

impl<F> SeriesParts for Puts<F>
where
    F: FnOnce(Result<usize, TransferError>) + Send + 'static,
{
    fn next(&mut self, _: &Node) -> Result<Option<Begin>, TransferError> {
        Ok(self.rest.next().map(|(place, here, len)| -> Begin {
            let (key, from) = (self.key, self.memory.slice(here, len));
            Box::new(move |node, then| node.put((key, place), from, then))
        }))
    }

    fn finish(self, _: &Arc<Node>, moved: Result<usize, TransferError>) {
        // Whoever hears of the end may write the memory again.
        drop(self.memory);
        (self.finish)(moved);
    }
}
