//! Span of several pieces of memory: the bytes from the lowest to the highest, and the layout that selects the pieces.
//!
//! An iteration lends the same arrays again and again, so that each thread remembers the layouts of the last spans: peers know them then,
//! and the plans from and to them are known, too, unless they are very long.

use crate::base::recent::Recent;
use chare_layout::{LayoutError, Raw};
use chare_lrts::Share;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::sync::Arc;

/// Most indices of a layout that is kept for the next time, together with its pieces, which take as much as [`PIECE_INDICES`] each: it keeps
/// the lists of its pieces, so that a thread keeps four megabytes at most.
const KEPT_INDICES: u64 = 16_384;

const PIECE_INDICES: u64 = (size_of::<PieceAt>() / size_of::<u32>()) as u64;

/// Where a piece begins, counted from the lowest of all, its bytes, and what selects them.
type PieceAt = (i64, usize, Option<Arc<Raw>>);

type PiecesAt = SmallVec<[PieceAt; 4]>;

thread_local! {
    /// Layouts of the last spans, by the places of their pieces.
    static JOINED: RefCell<Recent<PiecesAt, Arc<Raw>>> = const { RefCell::new(Recent::new()) };
}

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
    /// Where it lies in a row of arenas, if all pieces lie in that one.
    pub(super) share: Option<Share>,
    /// The pieces, in their order.
    pub(super) layout: Arc<Raw>,
    /// Whether the layout is one that this thread has joined before, and remembers.
    pub(super) comes_again: bool,
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
        let place = |piece: &Piece<'_>| (piece.first() - lowest) as i64 - piece.origin();
        let of_known = |(at, bytes, layout): &PieceAt| (*at, *bytes, layout.as_ref().map(Arc::as_ptr));
        let of_piece = |piece: &Piece<'_>| (place(piece), piece.bytes, piece.layout.map(Arc::as_ptr));
        let are_of = |known: &PiecesAt| known.iter().map(of_known).eq(filled().map(of_piece));
        let known = JOINED.with_borrow(|joined| joined.find(are_of));
        let comes_again = known.is_some();
        let layout = match known {
            Some(layout) => layout,
            None => {
                let places =
                    filled().map(|piece| (place(piece), piece.bytes, piece.layout.cloned())).collect();
                joined(places)?
            }
        };
        Ok(Self {
            address: std::ptr::with_exposed_provenance_mut(lowest),
            len: layout.span() as usize,
            share: share(filled(), lowest),
            layout,
            comes_again,
        })
    }
}

/// The layout of pieces at these places, kept for the next time if it is not long.
fn joined(places: PiecesAt) -> Result<Arc<Raw>, LayoutError> {
    let whole = |bytes: usize| Raw::bytes_of(bytes as u64).map(Arc::new);
    let layouts: SmallVec<[_; 8]> = places
        .iter()
        .map(|(_, bytes, layout)| layout.clone().map_or_else(|| whole(*bytes), Ok))
        .collect::<Result<_, LayoutError>>()?;
    let selections: SmallVec<[_; 8]> =
        places.iter().zip(&layouts).map(|((at, ..), layout)| (*at, &**layout)).collect();
    let layout = Arc::new(Raw::sequence(&selections)?);
    if layout.index_count() + places.len() as u64 * PIECE_INDICES <= KEPT_INDICES {
        JOINED.with_borrow_mut(|joined| joined.keep(places, Arc::clone(&layout)));
    }
    Ok(layout)
}

/// Where the lowest byte lies in the row of arenas of all pieces.
fn share<'a>(mut pieces: impl Iterator<Item = &'a Piece<'a>>, lowest: usize) -> Option<Share> {
    let first = pieces.next()?;
    let Share { row, offset } = first.share?;
    let is_there = |piece: &Piece<'_>| piece.share.is_some_and(|share| share.row == row);
    // What is so much further on in memory is as much further on in the row.
    let further = (lowest as u64).wrapping_sub(first.address.addr() as u64);
    pieces.all(is_there).then(|| Share { row, offset: offset.wrapping_add(further) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_pieces_are_not_kept_for_the_next_time() {
        let memory = vec![0_u8; 100_000];
        let comes_again = |count: usize| {
            let piece = |byte| Piece { address: byte, share: None, bytes: 1, layout: None };
            Span::around(&memory.iter().take(count).map(|byte| piece(byte)).collect::<Vec<_>>()).comes_again
        };
        let most = (KEPT_INDICES / PIECE_INDICES) as usize;
        assert!(!comes_again(most) && comes_again(most));
        for many in [most + 1, memory.len()] {
            assert!(!comes_again(many) && !comes_again(many), "{many} pieces, side by side");
        }
    }

    #[test]
    fn pieces_come_again_when_they_lie_where_the_last_ones_lay_and_the_same_is_selected()
    -> Result<(), LayoutError> {
        let list = |last: i64| Raw::bytes_of(8)?.indexed_block(1, &[5, 0, last]).map(Arc::new);
        let (one, other) = (list(7)?, list(8)?);
        let memory = [0_u64; 40];
        let comes_again = |layouts: [&Arc<Raw>; 2], second: usize| {
            let piece = |layout, at: usize| {
                let address = memory[at..].as_ptr().cast();
                Piece { address, share: None, bytes: 24, layout: Some(layout) }
            };
            Span::around(&[piece(layouts[0], 0), piece(layouts[1], second)]).comes_again
        };
        assert!(!comes_again([&one, &other], 20));
        assert!(comes_again([&one, &other], 20));
        assert!(!comes_again([&one, &other], 21) && !comes_again([&other, &one], 20));
        assert!(comes_again([&one, &other], 20));
        Ok(())
    }
}
