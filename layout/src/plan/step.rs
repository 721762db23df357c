//! Steps of a plan: nests of copies, lists on one side or both, and walks, each with its places in both buffers.

use crate::plan::nest::{Nest, Pairs};
use crate::value::op::{Body, Op};
use std::sync::Arc;

/// The side that a list of places belongs to; the other one is one piece of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listed {
    Source,
    Target,
}

/// Copies that are made in one go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Nest(Nest),
    /// Steps within loops.
    Loop {
        source: i64,
        target: i64,
        loops: Pairs,
        steps: Vec<Step>,
    },
    /// Pieces of a list: `Indexed` or `Runs`.
    List {
        source: i64,
        target: i64,
        list: Body,
        listed: Listed,
    },
    /// Pieces of two lists, `Indexed` both, of as many blocks of one length.
    Lists {
        source: i64,
        target: i64,
        from: Body,
        to: Body,
    },
    /// Steps at each offset of one side, and every `stride` bytes of the other.
    Each {
        source: i64,
        target: i64,
        offsets: Arc<[i64]>,
        listed: Listed,
        stride: i64,
        steps: Vec<Step>,
    },
    /// Both streams from `at` on, piece by piece.
    Zip {
        source: Arc<[Op]>,
        target: Arc<[Op]>,
        at: u64,
        bytes: u64,
    },
}

/// Places in both buffers.
pub(crate) type Places = (i64, i64);

/// Places moved on the listed side and on the dense one.
pub(crate) fn beside(at: Places, listed: Listed, place: i64, dense: i64) -> Places {
    let (source, target) = sides(listed, place, dense);
    (at.0 + source, at.1 + target)
}

/// A pair of what belongs to the listed side and what to the other.
pub(crate) fn sides(listed: Listed, laid: i64, dense: i64) -> (i64, i64) {
    match listed {
        Listed::Source => (laid, dense),
        Listed::Target => (dense, laid),
    }
}
