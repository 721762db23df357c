//! Plans: a source layout and a target layout joined to one nest of copies.
//!
//! A plan knows distances, no addresses: it serves every pair of buffers.

mod builder;
pub(crate) mod copies;
pub(crate) mod cost;
mod fields;
pub(crate) mod nest;
pub(crate) mod pieces;
pub(crate) mod step;

use crate::plan::builder::Builder;
use crate::plan::step::Step;
use crate::value::op::Op;
use crate::{LayoutError, Raw, value};
use smallvec::SmallVec;
use std::ops::Range;

/// Copies from one layout to another.
///
/// ```
/// use chare_layout::{Layout, Plan, copy};
/// # fn main() -> Result<(), chare_layout::LayoutError> {
/// // A transposition: rows of the source are columns of the target.
/// let rows = Layout::<u8>::contiguous(6)?;
/// let columns = Layout::<u8>::strided(&[2, 3], &[1, 2])?;
/// let mut target = [0; 6];
/// copy(&Plan::new(&rows, &columns)?, &[1, 2, 3, 4, 5, 6], &mut target)?;
/// assert_eq!(target, [1, 4, 2, 5, 3, 6]);
/// # Ok(())
/// # }
/// ```
///
/// Plans are equal if they make the same copies in the same way. Cost: a few words where they are not, and all indices of lists where they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    // Compared in this order: most plans differ in what is short.
    bytes: u64,
    source: (i64, i64),
    target: (i64, i64),
    pub(crate) steps: Vec<Step>,
}

/// What a plan asks of the caches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Footprint {
    /// Bytes that it copies.
    pub(crate) bytes: u64,
    /// About how many of both sides pass through the caches: where pieces lie apart, the hardware reads of what lies between as much again
    /// at most.
    pub(crate) touched_bytes: u64,
}

impl Plan {
    /// Copies the stream of `source` to that of `target`; a longer target gets a beginning.
    ///
    /// Cost: some 100 ns for nests of loops; lists are shared, not copied. Worth keeping for a pair that comes again.
    ///
    /// # Errors
    /// [`LayoutError::TooLong`] if the source has more bytes, and those of [`Raw::check_target`].
    pub fn new(source: &Raw, target: &Raw) -> Result<Self, LayoutError> {
        if source.bytes() > target.bytes() {
            return Err(LayoutError::TooLong { have: source.bytes(), room: target.bytes() });
        }
        Self::beginning(source, target)
    }

    /// Copies the stream of `source` to that of `target`, as far as the shorter of the two goes.
    ///
    /// ```
    /// use chare_layout::{Layout, Plan, copy};
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// let (every_other, pair) = (Layout::<u8>::vector(4, 1, 2)?, Layout::<u8>::vector(2, 1, 3)?);
    /// let mut target = [0; 4];
    /// copy(&Plan::beginning(&every_other, &pair)?, &[1, 2, 3, 4, 5, 6, 7], &mut target)?;
    /// assert_eq!(target, [1, 0, 0, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Cost: as [`Plan::new`].
    ///
    /// # Errors
    /// Those of [`Raw::check_target`].
    pub fn beginning(source: &Raw, target: &Raw) -> Result<Self, LayoutError> {
        target.check_target()?;
        Ok(Self::between(source.into(), target.into()))
    }

    /// Copies the stream of `source` to one piece of memory.
    ///
    /// # Errors
    /// None that a layout which exists can cause.
    pub fn pack(source: &Raw) -> Result<Self, LayoutError> {
        Ok(Self::between(source.into(), (&row(source.bytes())).into()))
    }

    /// Copies a stream in one piece of memory to where `target` selects.
    ///
    /// # Errors
    /// Those of [`Raw::check_target`].
    pub fn unpack(target: &Raw) -> Result<Self, LayoutError> {
        Self::unpack_beginning(target, target.bytes())
    }

    /// Copies so many bytes of one piece of memory to the beginning of what `target` selects.
    pub(crate) fn unpack_beginning(target: &Raw, bytes: u64) -> Result<Self, LayoutError> {
        if bytes > target.bytes() {
            return Err(LayoutError::TooLong { have: bytes, room: target.bytes() });
        }
        target.check_target()?;
        Ok(Self::between((&row(bytes)).into(), target.into()))
    }

    /// Copies a range of the stream of `source` to one piece of memory, from its first byte on.
    ///
    /// ```
    /// use chare_layout::{Layout, Plan, copy};
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// let every_other = Layout::<u8>::vector(4, 1, 2)?;
    /// let mut chunk = [0; 2];
    /// copy(&Plan::pack_range(every_other.raw(), 1..3)?, &[1, 2, 3, 4, 5, 6, 7], &mut chunk)?;
    /// assert_eq!(chunk, [3, 5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Cost: as [`Plan::new`], and the lists of the range are copied.
    ///
    /// # Errors
    /// [`LayoutError::TooLong`] if the stream ends before.
    pub fn pack_range(source: &Raw, range: Range<u64>) -> Result<Self, LayoutError> {
        let (ops, row) = (Self::ranged(source, &range)?, row(range.end - range.start));
        Ok(Self::between(Side { ops: &ops, ..source.into() }, (&row).into()))
    }

    /// Copies one piece of memory, from its first byte on, to where a range of the stream of `target` goes.
    ///
    /// Cost: as [`Plan::pack_range`].
    ///
    /// # Errors
    /// [`LayoutError::TooLong`] if the stream ends before, and those of [`Raw::check_target`].
    pub fn unpack_range(target: &Raw, range: Range<u64>) -> Result<Self, LayoutError> {
        target.check_target()?;
        let (ops, row) = (Self::ranged(target, &range)?, row(range.end - range.start));
        Ok(Self::between((&row).into(), Side { ops: &ops, ..target.into() }))
    }

    /// As far as the shorter of the two goes.
    fn between(source: Side<'_>, target: Side<'_>) -> Self {
        let bytes = source.bytes.min(target.bytes);
        let steps = Builder::default().build(source.ops, target.ops, bytes);
        Self { steps, bytes, source: source.reach, target: target.reach }
    }

    /// # Errors
    /// [`LayoutError::TooLong`] if the stream of a layout ends before a range does.
    fn ranged(layout: &Raw, range: &Range<u64>) -> Result<Vec<Op>, LayoutError> {
        if range.start > range.end || range.end > layout.bytes() {
            return Err(LayoutError::TooLong { have: range.end, room: layout.bytes() });
        }
        Ok(value::range::range(&layout.ops, range.clone()))
    }

    /// Bytes that it copies.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What it asks of the caches.
    pub(crate) fn footprint(&self) -> Footprint {
        let side = |(origin, end): (i64, i64)| end.abs_diff(origin).min(self.bytes.saturating_mul(2));
        let touched_bytes = side(self.source).saturating_add(side(self.target));
        Footprint { bytes: self.bytes, touched_bytes }
    }

    /// Whether buffers of these lengths hold all that either side selects.
    ///
    /// # Errors
    /// [`LayoutError::OutOfBounds`].
    pub fn check_bounds(&self, source_len: u64, target_len: u64) -> Result<(), LayoutError> {
        for ((origin, end), len) in [(self.source, source_len), (self.target, target_len)] {
            if origin < 0 || u64::try_from(end).is_ok_and(|end| end > len) {
                return Err(LayoutError::OutOfBounds { origin, end, len });
            }
        }
        Ok(())
    }
}

/// One end of a plan: operations of so many bytes, and from where to where they reach.
struct Side<'a> {
    ops: &'a [Op],
    bytes: u64,
    reach: (i64, i64),
}

impl<'a> From<&'a Raw> for Side<'a> {
    fn from(raw: &'a Raw) -> Self {
        Self { ops: &raw.ops, bytes: raw.bytes(), reach: (raw.origin(), raw.end()) }
    }
}

/// One piece of memory: no layout has to be made for it.
type Row = SmallVec<[Op; 1]>;

/// The first bytes of a buffer.
fn row(bytes: u64) -> Row {
    std::iter::once(Op::block(0, bytes)).filter(|op| op.bytes > 0).collect()
}

impl<'a> From<&'a Row> for Side<'a> {
    fn from(row: &'a Row) -> Self {
        let bytes = row.first().map_or(0, |op| op.bytes);
        Self { ops: row, bytes, reach: (0, bytes as i64) }
    }
}
