//! Span of several pieces of memory: the bytes from the lowest to the highest, and the layout that selects the pieces.

use chare_layout::{LayoutError, Raw};
use chare_lrts::Share;
use smallvec::SmallVec;
use std::sync::Arc;

/// A piece: memory, or what a layout selects of it.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub(super) address: *const u8,
    pub(super) share: Option<Share>,
    pub(super) bytes: usize,
    pub(super) layout: Option<&'a Arc<Raw>>,
}

/// The bytes around some pieces. Between the pieces lies what belongs to others, or nothing.
pub(super) struct Span {
    pub(super) address: *mut u8,
    pub(super) len: usize,
    /// Where it lies in an arena, if all pieces lie in that one.
    pub(super) share: Option<Share>,
    /// The pieces, in their order.
    pub(super) layout: Arc<Raw>,
}

impl Piece<'_> {
    fn origin(&self) -> i64 {
        self.layout.map_or(0, |layout| layout.origin())
    }

    /// The address of its first byte. Whoever holds the span may reach the piece by that address alone.
    fn first(&self) -> usize {
        self.address.expose_provenance().wrapping_add_signed(self.origin() as isize)
    }
}

impl Span {
    /// # Panics
    /// If the pieces' layouts have more operations together than one layout may have.
    pub(super) fn around(pieces: &[Piece<'_>]) -> Self {
        Self::try_around(pieces).unwrap_or_else(|error| {
            panic!("{} buffers under one argument: {error}; send them as several arguments", pieces.len())
        })
    }

    fn try_around(pieces: &[Piece<'_>]) -> Result<Self, LayoutError> {
        let filled = || pieces.iter().filter(|piece| piece.bytes > 0);
        let lowest = filled().map(Piece::first).min().unwrap_or(align_of::<u128>());
        let layouts: SmallVec<[_; 8]> = filled()
            .map(|piece| {
                let whole = || Raw::bytes_of(piece.bytes as u64).map(Arc::new);
                piece.layout.map_or_else(whole, |layout| Ok(Arc::clone(layout)))
            })
            .collect::<Result<_, LayoutError>>()?;
        let place = |piece: &Piece<'_>| (piece.first() - lowest) as i64 - piece.origin();
        let selections: SmallVec<[_; 8]> =
            filled().zip(&layouts).map(|(piece, layout)| (place(piece), &**layout)).collect();
        let layout = Raw::sequence(&selections)?;
        Ok(Self {
            address: std::ptr::with_exposed_provenance_mut(lowest),
            len: layout.span() as usize,
            share: share(filled(), lowest),
            layout: Arc::new(layout),
        })
    }
}

/// Where the lowest byte lies in the arena of all pieces.
fn share<'a>(mut pieces: impl Iterator<Item = &'a Piece<'a>>, lowest: usize) -> Option<Share> {
    let first = pieces.next()?;
    let Share { arena, offset } = first.share?;
    let is_there = |piece: &Piece<'_>| piece.share.is_some_and(|share| share.arena == arena);
    // An arena lies in one row: what is so much further on in memory is as much further on in the arena.
    let further = (lowest as u64).wrapping_sub(first.address.addr() as u64);
    pieces.all(is_there).then(|| Share { arena, offset: offset.wrapping_add(further) })
}
