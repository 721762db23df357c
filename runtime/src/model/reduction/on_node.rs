//! Partials of one reduction on a node's first PE: folded until they are whole, then handed up the tree of nodes, or finished at its root.

use crate::base::allowance::Allowance;
use crate::model::ids::CollectionId;
use crate::model::reduction::{Partial, Partials, Tally};

/// The place of a node in the tree of a reduction.
#[derive(Clone, Copy)]
pub(crate) struct FoldNode {
    pub(crate) collection: CollectionId,
    /// PEs of the node and of the nodes below that take part.
    pub(crate) parts: u64,
    pub(crate) is_root: bool,
}

/// The result of [`fold`].
pub(crate) enum Folded {
    /// More partials are to come.
    Waits,
    /// The partial goes to the node above.
    Up(Partial),
    /// The reduction is over.
    Over(Partial),
}

/// Adds a partial from a PE of the node or from a node below to the others; what waits takes of the node's allowance.
///
/// # Errors
/// When contributions do not fit together, or there is no room for them, in words.
pub(crate) fn fold(
    partials: &mut Partials,
    place: FoldNode,
    partial: Partial,
    allowance: &Allowance,
) -> Result<Folded, String> {
    let FoldNode { collection, parts, is_root } = place;
    let is_late = partial.tally.closed == 0;
    if is_late && !is_root {
        return Ok(Folded::Up(partial));
    }
    let is_whole = |tally: Tally| {
        tally.closed >= parts && (!is_root || i128::from(tally.contributed) == i128::from(tally.expected))
    };
    Ok(match partials.add(collection, partial, allowance, is_whole)? {
        None => Folded::Waits,
        Some(whole) if is_root => Folded::Over(whole),
        Some(whole) => Folded::Up(whole),
    })
}
