//! Spans: parts of blocks, of pinned memory and of arenas, as commands take them. A span has a share in its memory.

use crate::memory::arena::{Arena, Piece, check_range};
use crate::memory::mapping::Registrable;
use crate::words::error::DeviceError;
use std::ops::Range;
use std::sync::Arc;

/// What keeps the bytes of a span.
#[derive(Debug, Clone)]
enum Share {
    Piece(Arc<Piece>),
    Arena(Arena),
}

/// Bytes that a command reads or writes. Its memory is not given back before it is dropped; it gives nobody access.
#[derive(Debug, Clone)]
pub struct Span {
    share: Share,
    /// Counted from the start of the arena.
    range: (u64, u64),
}

impl Span {
    pub(crate) fn of_piece(piece: &Arc<Piece>) -> Self {
        let range = (piece.offset(), piece.offset() + piece.len());
        Self { share: Share::Piece(Arc::clone(piece)), range }
    }

    /// First address, as the user's own kernels name it.
    pub fn address(&self) -> u64 {
        self.arena().address() + self.range.0
    }

    /// Bytes.
    pub fn len(&self) -> u64 {
        self.range.1 - self.range.0
    }

    /// Whether it has no byte.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A part of it, with a share of its own.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`].
    pub fn part(&self, range: Range<u64>) -> Result<Self, DeviceError> {
        check_range(&range, self.len())?;
        let (start, end) = (self.range.0 + range.start, self.range.0 + range.end);
        Ok(Self { share: self.share.clone(), range: (start, end) })
    }

    /// Both as one, if `next` follows in the same memory.
    pub(crate) fn join(&self, next: &Self) -> Option<Self> {
        let is_same = match (&self.share, &next.share) {
            (Share::Piece(one), Share::Piece(other)) => Arc::ptr_eq(one, other),
            (Share::Arena(one), Share::Arena(other)) => one.is(other),
            _ => false,
        };
        let range = (self.range.0, next.range.1);
        (is_same && self.range.1 == next.range.0).then(|| Self { share: self.share.clone(), range })
    }

    pub(crate) fn arena(&self) -> &Arena {
        match &self.share {
            Share::Piece(piece) => piece.arena(),
            Share::Arena(arena) => arena,
        }
    }

    /// Where a network finds its first byte.
    ///
    /// # Errors
    /// [`DeviceError::Refused`] and [`DeviceError::Lost`].
    pub(crate) fn registrable(&self) -> Result<Registrable, DeviceError> {
        Ok(self.arena().mapping().registrable()?.behind(self.range.0))
    }

    /// Bytes between the arena's start and its own.
    pub(crate) fn offset(&self) -> u64 {
        self.range.0
    }

    /// Whether two spans share a byte. Another process may have mapped the same arena once more: that is not seen.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let (left, right) = (self.address(), other.address());
        left < right + other.len() && right < left + self.len()
    }
}

impl Arena {
    /// A part of it, which keeps the arena mapped; whoever cut the memory says when it may be used.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`].
    pub fn part(&self, range: Range<u64>) -> Result<Span, DeviceError> {
        check_range(&range, self.len())?;
        Ok(Span { share: Share::Arena(self.clone()), range: (range.start, range.end) })
    }
}
