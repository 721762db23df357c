//! Limits of layouts: what a peer would decode is what can be made, so that every layout can be told.

use crate::LayoutError;
use crate::value::op::{Body, Op};

/// Indices, pieces or offsets of one list.
pub const INDICES_MAX: usize = 1 << 22;

/// Operations of a layout, those in groups included.
pub const OPS_MAX: usize = 1 << 12;

/// Loops around one operation, those of the groups around it not included.
pub const LOOPS_MAX: usize = 32;

/// Groups within groups.
pub const DEPTH_MAX: usize = 24;

pub(crate) fn check_indices(have: usize) -> Result<(), LayoutError> {
    check_count("indices", have, INDICES_MAX)
}

pub(crate) fn check_count(what: &'static str, have: usize, most: usize) -> Result<(), LayoutError> {
    if have > most {
        return Err(LayoutError::TooMany { what, have: have as u64, most: most as u64 });
    }
    Ok(())
}

/// Holds a layout against all of them.
pub(crate) fn check(ops: &[Op]) -> Result<(), LayoutError> {
    let mut count = 0;
    check_below(ops, 0, &mut count)?;
    check_count("operations", count, OPS_MAX)
}

fn check_below(ops: &[Op], depth: usize, count: &mut usize) -> Result<(), LayoutError> {
    check_count("groups within each other", depth, DEPTH_MAX)?;
    *count += ops.len();
    for op in ops {
        check_count("loops", op.loops.len(), LOOPS_MAX)?;
        match &op.body {
            Body::Block(_) => {}
            Body::Indexed { indices, .. } => check_indices(indices.len())?,
            Body::Runs(pieces) => check_indices(pieces.len())?,
            Body::Each { offsets, of } => {
                check_indices(offsets.len())?;
                check_below(of, depth + 1, count)?;
            }
            Body::Group(of) => check_below(of, depth + 1, count)?,
        }
    }
    Ok(())
}
