//! Constructors with the meaning of MPI's, on the value as the inner type: `inner.vector(..)` is `MPI_Type_vector(.., inner)`.
//!
//! Bounds are those of MPI: the lowest lower bound and the highest upper bound of all copies of the inner type, whether they
//! were said by `resized` and `subarray` or derived; bounds that were said do not stick to what is built of them, and nothing is
//! padded to an alignment, for bytes have none: both are what [`Datatype`](crate::Datatype) is for.

use crate::make::inner::Inner;
use crate::value::bounds::Facts;
use crate::value::canonical;
use crate::value::lists;
use crate::value::op::{Body, Loop, Loops, Op};
use crate::value::sums;
use crate::{LayoutError, Raw};
use smallvec::SmallVec;
use std::sync::Arc;

/// The lowest and highest place of copies, so far.
#[derive(Clone, Copy)]
struct Reached {
    low: i64,
    high: i64,
}

impl Reached {
    fn add(known: &mut Option<Self>, low: i64, high: i64) {
        let before = known.unwrap_or(Self { low, high });
        *known = Some(Self { low: before.low.min(low), high: before.high.max(high) });
    }
}

impl Raw {
    /// `len` bytes in a row: MPI's basic types.
    ///
    /// # Errors
    /// More than 2^63 bytes.
    pub fn bytes_of(len: u64) -> Result<Self, LayoutError> {
        match len {
            0 => Self::empty(),
            _ => Self::known(SmallVec::from_buf([Op::block(0, len)]), Some(Facts::run(0, len)?), None),
        }
    }

    fn empty() -> Result<Self, LayoutError> {
        Self::assemble(SmallVec::new(), None)
    }

    fn inner(&self) -> Inner<'_> {
        self.into()
    }

    /// `count` in a row, each an extent behind the one before: `MPI_Type_contiguous`.
    ///
    /// # Errors
    /// What does not fit 64 bits.
    pub fn contiguous(&self, count: u64) -> Result<Self, LayoutError> {
        self.inner().contiguous(count)
    }

    /// `count` blocks of `len`, `stride` extents apart: `MPI_Type_vector`.
    ///
    /// # Errors
    /// What does not fit 64 bits.
    pub fn vector(&self, count: u64, len: u64, stride: i64) -> Result<Self, LayoutError> {
        self.inner().vector(count, len, stride)
    }

    /// `count` blocks of `len`, `stride_bytes` apart: `MPI_Type_create_hvector`.
    ///
    /// # Errors
    /// What does not fit 64 bits.
    pub fn hvector(&self, count: u64, len: u64, stride_bytes: i64) -> Result<Self, LayoutError> {
        self.inner().nested(0, &[(count, stride_bytes), (len, self.extent())])
    }

    /// Blocks of different lengths at places counted in extents: `MPI_Type_indexed`.
    ///
    /// # Errors
    /// Lists of different lengths, more entries than [`INDICES_MAX`](crate::INDICES_MAX), what does not fit 64 bits.
    pub fn indexed(&self, lens: &[u64], places: &[i64]) -> Result<Self, LayoutError> {
        same_lengths(("block lengths", lens.len()), ("displacements", places.len()))?;
        let extent = self.extent();
        self.listed(lens.iter().zip(places).map(|(len, place)| Ok((*len, sums::mul(*place, extent)?))))
    }

    /// Blocks of different lengths at places counted in bytes: `MPI_Type_create_hindexed`.
    ///
    /// # Errors
    /// As [`indexed`](Self::indexed).
    pub fn hindexed(&self, lens: &[u64], places_bytes: &[i64]) -> Result<Self, LayoutError> {
        same_lengths(("block lengths", lens.len()), ("displacements", places_bytes.len()))?;
        self.listed(lens.iter().zip(places_bytes).map(|(len, place)| Ok((*len, *place))))
    }

    /// Blocks of `len` at places counted in extents: `MPI_Type_create_indexed_block`.
    ///
    /// # Errors
    /// As [`indexed`](Self::indexed).
    pub fn indexed_block(&self, len: u64, places: &[i64]) -> Result<Self, LayoutError> {
        if let Some(made) = self.inner().scattered(places, len) {
            return made;
        }
        let extent = self.extent();
        self.listed(places.iter().map(|place| Ok((len, sums::mul(*place, extent)?))))
    }

    /// Blocks of `len` at places counted in bytes: `MPI_Type_create_hindexed_block`.
    ///
    /// # Errors
    /// As [`indexed`](Self::indexed).
    pub fn hindexed_block(&self, len: u64, places_bytes: &[i64]) -> Result<Self, LayoutError> {
        if let Some(made) = self.inner().scattered_bytes(places_bytes, len) {
            return made;
        }
        self.listed(places_bytes.iter().map(|place| Ok((len, *place))))
    }

    /// Blocks of `(how many, place in bytes)`.
    fn listed(
        &self,
        blocks: impl Iterator<Item = Result<(u64, i64), LayoutError>>,
    ) -> Result<Self, LayoutError> {
        let mut reached = None;
        let is_dense = self.is_contiguous() && i64::try_from(self.bytes()) == Ok(self.extent());
        let mut kept: Vec<(i64, u64)> = Vec::with_capacity(blocks.size_hint().0);
        for block in blocks {
            let (len, at) = block?;
            if len > 0 && !self.inner().is_void() {
                let reach = sums::reach(len, self.extent())?;
                let low = sums::add(sums::add(at, self.lower_bound())?, reach.min(0))?;
                let high = sums::add(sums::add(at, self.upper_bound())?, reach.max(0))?;
                Reached::add(&mut reached, low, high);
                if is_dense {
                    let len = sums::mul_bytes(len, self.bytes())?;
                    lists::melt_into(&mut kept, sums::add(at, self.origin())?, len);
                } else {
                    kept.push((at, len));
                }
            }
        }
        let Some(reached) = reached else { return Self::empty() };
        let op = if is_dense { lists::list(&kept)? } else { self.list_op(&kept)? };
        Self::assemble([op].into(), Some((reached.low, reached.high)))
    }

    /// This at each of the blocks `(place in bytes, how many)`.
    fn list_op(&self, blocks: &[(i64, u64)]) -> Result<Op, LayoutError> {
        let extent = self.extent();
        let len = blocks[0].1;
        let (offsets, loops): (Vec<i64>, Loops) = if blocks.iter().all(|block| block.1 == len) {
            let row = std::iter::once(Loop { count: len, stride: extent }).collect();
            (blocks.iter().map(|block| block.0).collect(), row)
        } else {
            let all = blocks.iter().try_fold(0_u64, |all, block| sums::add_bytes(all, block.1))?;
            crate::value::limits::check_indices(usize::try_from(all).unwrap_or(usize::MAX))?;
            // That the last place of each block fits was checked with the bounds.
            let places =
                blocks.iter().flat_map(|(at, len)| (0..*len as i64).map(move |one| at + one * extent));
            (places.collect(), Loops::new())
        };
        crate::value::limits::check_indices(offsets.len())?;
        // What stands at each place is canonical by itself.
        let of = canonical::canonical([self.inner().within(0, loops)?].into())?;
        if of.is_empty() {
            return Ok(Op::block(0, 0));
        }
        Op::new(0, Loops::new(), Body::Each { offsets: offsets.into(), of: of.into_vec().into() })
    }

    /// Fields `(how many, place in bytes, type)` one after the other: `MPI_Type_create_struct`.
    ///
    /// ```
    /// use chare_layout::Raw;
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// let (byte, double) = (Raw::bytes_of(1)?, Raw::bytes_of(8)?);
    /// let particle = Raw::structure(&[(3, 8, &double), (1, 0, &byte)])?.resized(0, 32)?;
    /// assert_eq!(particle.runs().collect::<Vec<_>>(), [(8, 24), (0, 1)]);
    /// assert_eq!(particle.contiguous(100)?.span(), 99 * 32 + 32);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// More operations than [`OPS_MAX`](crate::OPS_MAX), what does not fit 64 bits.
    pub fn structure(fields: &[(u64, i64, &Self)]) -> Result<Self, LayoutError> {
        let mut reached = None;
        let mut ops = SmallVec::new();
        for (count, at, field) in fields {
            if *count == 0 || field.inner().is_void() {
                continue;
            }
            let row = field.inner().nested(*at, &[(*count, field.extent())])?;
            Reached::add(&mut reached, row.lower_bound(), row.upper_bound());
            ops.extend(row.ops);
        }
        Self::assemble(ops, reached.map(|reached| (reached.low, reached.high)))
    }

    /// The same bytes with other bounds: `MPI_Type_create_resized`.
    ///
    /// # Errors
    /// Bounds that do not fit 64 bits.
    pub fn resized(&self, lower_bound: i64, extent: i64) -> Result<Self, LayoutError> {
        Self::assemble(self.ops.clone(), Some((lower_bound, sums::add(lower_bound, extent)?)))
    }

    /// This one, then `next`, of the same buffer.
    ///
    /// # Errors
    /// As [`structure`](Self::structure).
    pub fn then(&self, next: &Self) -> Result<Self, LayoutError> {
        Self::structure(&[(1, 0, self), (1, 0, next)])
    }

    /// The same selection, `by` bytes further on.
    ///
    /// # Errors
    /// Places that do not fit 64 bits.
    pub fn shifted(&self, by: i64) -> Result<Self, LayoutError> {
        self.inner().nested(by, &[])
    }

    /// Each element of `element` bytes that this one selects, laid out as `inner`: the order is that of the elements.
    ///
    /// # Errors
    /// [`LayoutError::NotWhole`] if it does not select whole elements; what does not fit 64 bits.
    pub fn of(&self, element: u64, inner: &Self) -> Result<Self, LayoutError> {
        if element == 0 || !self.grain().is_multiple_of(element) {
            return Err(LayoutError::NotWhole { grain: self.grain(), element });
        }
        let ops: Result<SmallVec<[Op; 1]>, LayoutError> =
            self.ops.iter().map(|op| refined(op, element, inner)).collect();
        Self::assemble(ops?, Some((self.lower_bound(), self.upper_bound())))
    }
}

/// An operation whose elements of `element` bytes are laid out as `inner`.
fn refined(op: &Op, element: u64, inner: &Raw) -> Result<Op, LayoutError> {
    let stride = sums::signed(element)?;
    let row = |count: u64| -> Loops { std::iter::once(Loop { count, stride }).collect() };
    let all = |ops: &[Op]| -> Result<Arc<[Op]>, LayoutError> {
        Ok(ops.iter().map(|op| refined(op, element, inner)).collect::<Result<Vec<_>, _>>()?.into())
    };
    let body = match &op.body {
        Body::Block(len) => {
            let mut loops = op.loops.clone();
            loops.extend(row(len / element));
            return inner.inner().within(op.at, loops);
        }
        Body::Indexed { block, scale, indices } => {
            let offsets = indices.iter().map(|index| (u64::from(*index) * scale) as i64).collect();
            let of = canonical::canonical([inner.inner().within(0, row(block / element))?].into())?;
            Body::Each { offsets, of: of.into_vec().into() }
        }
        Body::Runs(pieces) => {
            let rows: Result<Vec<Op>, LayoutError> = crate::value::op::lengths(pieces)
                .map(|(at, len)| inner.inner().within(at, row(len / element)))
                .collect();
            Body::Group(rows?.into())
        }
        Body::Each { offsets, of } => Body::Each { offsets: Arc::clone(offsets), of: all(of)? },
        Body::Group(of) => Body::Group(all(of)?),
    };
    let body = match body {
        Body::Each { of, .. } if of.iter().all(|op| op.bytes == 0) => Body::Block(0),
        Body::Each { offsets, of } => {
            let of = canonical::canonical(of.iter().cloned().collect())?;
            Body::Each { offsets, of: of.into_vec().into() }
        }
        Body::Group(of) => Body::Group(canonical::canonical(of.iter().cloned().collect())?.into_vec().into()),
        other => other,
    };
    Op::new(op.at, op.loops.clone(), body)
}

pub(crate) fn same_lengths(
    left: (&'static str, usize),
    right: (&'static str, usize),
) -> Result<(), LayoutError> {
    if left.1 != right.1 {
        return Err(LayoutError::Lists {
            left_name: left.0,
            left: left.1,
            right_name: right.0,
            right: right.1,
        });
    }
    Ok(())
}
