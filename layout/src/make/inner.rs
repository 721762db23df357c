//! Inner types: what constructors repeat, be it a layout or a row of bytes for which no value was made.

use crate::value::bounds::Facts;
use crate::value::canonical::group;
use crate::value::op::{Body, Loop, Loops, Op};
use crate::value::{lists, sums};
use crate::{LayoutError, Raw};
use smallvec::SmallVec;

/// Operations in canonical form, and their bounds.
#[derive(Clone, Copy)]
pub(crate) struct Inner<'a> {
    ops: &'a [Op],
    low: i64,
    high: i64,
}

/// A row of bytes, as the operation that it is; [`Inner::from`] makes an inner type of it.
pub(crate) struct Row(Op);

impl Row {
    /// # Errors
    /// More than 2^63 bytes.
    pub(crate) fn new(bytes: u64) -> Result<Self, LayoutError> {
        sums::signed(bytes)?;
        Ok(Self(Op::block(0, bytes)))
    }
}

impl<'a> From<&'a Row> for Inner<'a> {
    fn from(row: &'a Row) -> Self {
        let ops = if row.0.bytes == 0 { &[] } else { std::slice::from_ref(&row.0) };
        Self { ops, low: 0, high: row.0.bytes as i64 }
    }
}

impl<'a> From<&'a Raw> for Inner<'a> {
    fn from(raw: &'a Raw) -> Self {
        Self { ops: &raw.ops, low: raw.lower_bound(), high: raw.upper_bound() }
    }
}

impl Inner<'_> {
    pub(crate) fn extent(self) -> i64 {
        self.high - self.low
    }

    pub(crate) fn selects_nothing(self) -> bool {
        self.ops.is_empty()
    }

    /// Nothing selects and bounds nothing.
    pub(crate) fn is_void(self) -> bool {
        self.selects_nothing() && self.low == 0 && self.high == 0
    }

    /// All operations as one, within loops.
    pub(crate) fn within(self, at: i64, loops: Loops) -> Result<Op, LayoutError> {
        group(self.ops, at, loops)
    }

    /// Copies at `at`, in loops of `(count, stride in bytes)`, outermost first.
    pub(crate) fn nested(self, at: i64, loops: &[(u64, i64)]) -> Result<Raw, LayoutError> {
        if self.is_void() || loops.iter().any(|(count, _)| *count == 0) {
            return Raw::assemble(SmallVec::new(), None);
        }
        let (mut low, mut high) = (self.low, self.high);
        for (count, stride) in loops {
            let reach = sums::reach(*count, *stride)?;
            (low, high) = (sums::add(low, reach.min(0))?, sums::add(high, reach.max(0))?);
        }
        let bounds = (sums::add(low, at)?, sums::add(high, at)?);
        let loops = loops.iter().map(|(count, stride)| Loop { count: *count, stride: *stride }).collect();
        Raw::assemble([self.within(at, loops)?].into(), Some(bounds))
    }

    /// `count` in a row, each an extent behind the one before.
    pub(crate) fn contiguous(self, count: u64) -> Result<Raw, LayoutError> {
        self.nested(0, &[(count, self.extent())])
    }

    /// `count` blocks of `len`, `stride` extents apart.
    pub(crate) fn vector(self, count: u64, len: u64, stride: i64) -> Result<Raw, LayoutError> {
        self.nested(0, &[(count, sums::mul(stride, self.extent())?), (len, self.extent())])
    }

    /// Blocks of `len` at places counted in extents, if these are rows of bytes and the whole is a list of indices; who gets none goes
    /// the general way.
    pub(crate) fn scattered(self, places: &[i64], len: u64) -> Option<Result<Raw, LayoutError>> {
        let row = self.row()?;
        Some(listed(lists::scattered(places, len, row)?))
    }

    /// The same with places counted in bytes.
    pub(crate) fn scattered_bytes(self, places: &[i64], len: u64) -> Option<Result<Raw, LayoutError>> {
        let row = self.row()?;
        Some(listed(lists::scattered(places, len.checked_mul(row)?, 1)?))
    }

    /// Bytes of the one row that it is, from its place 0 to its extent.
    fn row(self) -> Option<u64> {
        match self.ops {
            [Op { at: 0, loops, body: Body::Block(len), .. }] if loops.is_empty() => {
                ((self.low, Ok(self.high)) == (0, i64::try_from(*len))).then_some(*len)
            }
            _ => None,
        }
    }
}

/// A list of which all is known; its bounds are those of its bytes.
fn listed((op, facts): (Op, Facts)) -> Result<Raw, LayoutError> {
    Raw::known(SmallVec::from_buf([op]), Some(facts), None)
}
