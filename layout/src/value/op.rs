//! Operations of a layout: one piece of memory or a list of pieces, and the loops around it, in the order of the type map.
//!
//! An [`Op`] stands for its body at each step of its loops, outermost first. Bodies that hold operations make a tree; its
//! leaves are blocks and lists of blocks.

use crate::LayoutError;
use crate::value::sums;
use smallvec::SmallVec;
use std::sync::Arc;

/// One loop: `count` steps of `stride` bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Loop {
    pub(crate) count: u64,
    pub(crate) stride: i64,
}

/// Loops, outermost first.
pub(crate) type Loops = SmallVec<[Loop; 4]>;

/// One of a list of pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Where it starts, counted from the operation's place.
    pub(crate) at: i64,
    /// Where it ends in the stream of the list: so a place in the stream is found by bisection.
    pub(crate) end: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    /// So many bytes.
    Block(u64),
    /// `block` bytes at `scale` times each index.
    Indexed { block: u64, scale: u64, indices: Arc<[u32]> },
    /// Pieces of different lengths.
    Runs(Arc<[Piece]>),
    /// All of `of` at each offset.
    Each { offsets: Arc<[i64]>, of: Arc<[Op]> },
    /// One after the other.
    Group(Arc<[Op]>),
}

/// A list of pieces, or a part of one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum List<'a> {
    Indexed {
        block: u64,
        scale: u64,
        indices: &'a [u32],
    },
    /// The first of them starts at this place in the stream of the whole list.
    Runs {
        pieces: &'a [Piece],
        start: u64,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Op {
    pub(crate) at: i64,
    pub(crate) loops: Loops,
    pub(crate) body: Body,
    /// Bytes of the stream, all loops included: what the rest says, kept because seeking asks often.
    pub(crate) bytes: u64,
}

impl Op {
    #[inline]
    pub(crate) fn new(at: i64, loops: Loops, body: Body) -> Result<Self, LayoutError> {
        let bytes = loops.iter().try_fold(body.bytes()?, |bytes, one| sums::mul_bytes(bytes, one.count))?;
        Ok(Self { at, loops, body, bytes })
    }

    pub(crate) fn block(at: i64, len: u64) -> Self {
        Self { at, loops: Loops::new(), body: Body::Block(len), bytes: len }
    }

    pub(crate) fn shifted(&self, by: i64) -> Result<Self, LayoutError> {
        Ok(Self { at: sums::add(self.at, by)?, ..self.clone() })
    }
}

impl Body {
    /// All of a list; none if it is something else.
    pub(crate) fn list(&self) -> Option<List<'_>> {
        match self {
            Self::Indexed { block, scale, indices } => {
                Some(List::Indexed { block: *block, scale: *scale, indices })
            }
            Self::Runs(pieces) => Some(List::Runs { pieces, start: 0 }),
            Self::Block(_) | Self::Each { .. } | Self::Group(_) => None,
        }
    }

    pub(crate) fn bytes(&self) -> Result<u64, LayoutError> {
        match self {
            Self::Block(len) => Ok(*len),
            Self::Indexed { block, indices, .. } => sums::mul_bytes(*block, indices.len() as u64),
            Self::Runs(pieces) => Ok(pieces.last().map_or(0, |last| last.end)),
            Self::Each { offsets, of } => sums::mul_bytes(bytes_of(of)?, offsets.len() as u64),
            Self::Group(ops) => bytes_of(ops),
        }
    }
}

/// Bytes of the stream of all of them.
pub(crate) fn bytes_of(ops: &[Op]) -> Result<u64, LayoutError> {
    ops.iter().try_fold(0, |bytes, op| sums::add_bytes(bytes, op.bytes))
}

/// Numbers in the lists of all of them.
pub(crate) fn index_count(ops: &[Op]) -> u64 {
    let of_body = |op: &Op| match &op.body {
        Body::Block(_) => 0,
        Body::Indexed { indices, .. } => indices.len() as u64,
        Body::Runs(pieces) => pieces.len() as u64,
        Body::Each { offsets, of } => offsets.len() as u64 + index_count(of),
        Body::Group(of) => index_count(of),
    };
    ops.iter().map(of_body).sum()
}

/// The pieces of a list with their lengths.
pub(crate) fn lengths(pieces: &[Piece]) -> impl Iterator<Item = (i64, u64)> + '_ {
    lengths_from(pieces, 0)
}

/// Some pieces of a list with their lengths; the first of them starts at this place in the stream of the list.
pub(crate) fn lengths_from(pieces: &[Piece], start: u64) -> impl Iterator<Item = (i64, u64)> + '_ {
    let starts = std::iter::once(start).chain(pieces.iter().map(|piece| piece.end));
    pieces.iter().zip(starts).map(|(piece, start)| (piece.at, piece.end - start))
}
