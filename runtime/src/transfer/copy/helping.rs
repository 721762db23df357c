//! Helping: the owner of memory that was lent copies pieces of it to where its receiver wants them; see [`long_copy`](super::long_copy)
//! for the receiver's side.
//!
//! 1. Help comes too late when the loan or the registration of the target has ended; then there is nothing to do, and nobody waits.
//! 2. Pieces go on like any long copy, so that no PE is in this for longer than a piece.
//! 3. The target is claimed for as long as a piece is written: so a receiver that finds no piece left and no claim has all of it, and waits
//!    for no entry of this node.
//!
//! Keys and layouts are allegations: the keys' nodes, the layouts' bounds, and the number of each piece are checked.

use super::laid_out::in_words;
use super::planned::planned;
use crate::model::error::JobError;
use crate::model::nocopy::ToldLayout;
use crate::model::nocopy::divided::CopyOfDivided;
use crate::node::Node;
use crate::transfer::take::remote_memory::view;
use chare_layout::Raw;
use chare_lrts::{Completion, NodeId, RegionKey};
use std::sync::Arc;

/// Helps a node with a copy out of memory of this one.
///
/// # Errors
/// Memory that is not this node's or that node's, and layouts that reach beyond it, in words.
pub(crate) fn help(
    node: &Arc<Node>,
    asking: NodeId,
    (lent, ToldLayout(from)): (RegionKey, ToldLayout),
    (target, ToldLayout(to)): (RegionKey, ToldLayout),
) -> Result<(), String> {
    if lent.node != node.id || target.node != asking {
        return Err(format!("help with a copy from memory of {} to memory of {}", lent.node, target.node));
    }
    match copy(node, (lent, &from), (target, &to))? {
        Some(copy) => begin(node, copy, asking),
        None => node.outside.processed.add_shared(1),
    }
    Ok(())
}

/// This node's end of the copy, unless it is too late.
fn copy(
    node: &Node,
    (lent, from): (RegionKey, &Arc<Raw>),
    (target, to): (RegionKey, &Arc<Raw>),
) -> Result<Option<CopyOfDivided>, String> {
    let source = view(node, &lent, Some(from)).ok().flatten();
    let filled = node.network.help_to_fill(&target).filter(|filled| !filled.is_over());
    let Some((source, filled)) = source.zip(filled) else { return Ok(None) };
    let planned = planned(from, to).map_err(in_words)?;
    let Some(pieces) = planned.shared() else { return Ok(None) };
    let copy = CopyOfDivided::new((&planned.plan, pieces), source, filled, target.node).map_err(in_words)?;
    // The only PE of a node would help all the same, and begin later.
    Ok(Some(if node.topology.pes_per_node() > 1 { copy.into_help() } else { copy }))
}

fn begin(node: &Arc<Node>, copy: CopyOfDivided, asking: NodeId) {
    let (copy, then_node) = (Arc::new(copy), Arc::clone(node));
    let pieces = Arc::clone(&copy);
    let then = move |completion: Completion| {
        let (copy, node) = (Arc::into_inner(copy), then_node);
        let has_helped = copy.expect("the job's handle goes before its end is told").has_written();
        node.outside.helped.add_shared(u64::from(has_helped));
        if let Err(cause) = completion.result {
            let what = format!("helping {asking} with a copy");
            node.fail(JobError::Transfer { what, node: node.id, cause });
        }
        node.outside.processed.add_shared(1);
    };
    node.copy_pieces(pieces, Box::new(then));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::in_process::Job;
    use crate::model::nocopy::Leaving;
    use crate::pe::Pe;

    use chare_lrts::MemoryMut;

    #[test]
    fn memory_of_others_is_refused_in_words_and_help_that_comes_too_late_is_none() {
        let code = Job::in_process(1, 1).run(|| async {
            let node = Pe::current(|pe| Arc::clone(&pe.node));
            let leaving = Leaving::plain(MemoryMut::heap_zeroed(100).freeze(), None);
            let lent = node.transfers.lend(node.network.regions(), leaving);
            let (mine, _) = lent.unwrap_or_else(|_| unreachable!("there is room"));
            let (other, asking) = (RegionKey { node: NodeId(2), ..mine }, NodeId(1));
            let theirs = RegionKey { node: asking, ..mine };
            let layout = || ToldLayout(Arc::new(Raw::bytes_of(100).expect("bytes")));
            for (lent, target) in [(other, theirs), (mine, mine), (mine, other)] {
                let refused = help(&node, asking, (lent, layout()), (target, layout()));
                assert!(refused.expect_err("it is a lie").contains("help with a copy"));
            }
            let stale = RegionKey { generation: mine.generation ^ 1, ..mine };
            for (lent, target) in [(stale, theirs), (mine, RegionKey { generation: 1, ..theirs })] {
                let processed = node.outside.processed.read();
                help(&node, asking, (lent, layout()), (target, layout())).expect("it is too late");
                assert_eq!(node.outside.processed.read(), processed + 1);
                // As if somebody had asked.
                node.outside.sent.add_shared(1);
            }
        });
        assert_eq!(code.expect("the job runs"), 0);
    }
}
