//! Sub-blocks of arrays: MPI's subarray and distributed array, in the order of C and of Fortran.

use crate::make::constructors::same_lengths;
use crate::make::inner::Inner;
use crate::value::canonical::group;
use crate::value::op::{Loop, Loops, Op};
use crate::value::sums;
use crate::{LayoutError, Raw};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// Which index of an array varies fastest in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last one.
    C,
    /// The first one.
    Fortran,
}

/// How one dimension is dealt out to processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Distribution {
    /// One block each, as even as can be: MPI's default block.
    Block,
    /// Blocks of so many elements in turn; `Cyclic(1)` is MPI's default cyclic.
    Cyclic(u64),
    /// All of it.
    None,
}

/// One dimension of a distributed array, and this process's place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Distributed {
    /// Elements of the whole array.
    pub size: u64,
    /// How they are dealt out.
    pub distribution: Distribution,
    /// Processes along this dimension.
    pub processes: u64,
    /// Which of them is meant.
    pub process: u64,
}

/// Elements of one dimension: blocks of `len` from `start`, `stride` apart, and a last block of `rest`.
struct Share {
    start: u64,
    blocks: u64,
    len: u64,
    stride: u64,
    rest: u64,
}

impl Distributed {
    fn share(&self, dimension: usize) -> Result<Share, LayoutError> {
        let refused = |why| Err(LayoutError::Distribution { dimension, why });
        let Self { size, processes, process, .. } = *self;
        if process >= processes {
            return refused("the process is none of its processes: count processes from 0");
        }
        let block = match self.distribution {
            Distribution::Block => size.div_ceil(processes),
            Distribution::Cyclic(0) => return refused("blocks of 0 elements: deal out 1 or more at a time"),
            Distribution::Cyclic(block) => block,
            Distribution::None if processes > 1 => {
                return refused("it is not dealt out, yet has several processes: give it 1");
            }
            Distribution::None => size,
        };
        let (start, stride) = (process.checked_mul(block), processes.checked_mul(block));
        let (Some(start), Some(stride)) = (start, stride) else {
            return Err(LayoutError::TooFar { what: sums::PLACE });
        };
        if start >= size {
            return Ok(Share { start: 0, blocks: 0, len: block, stride, rest: 0 });
        }
        let (rounds, left) = ((size - start) / stride, (size - start) % stride);
        let blocks = rounds + u64::from(left >= block);
        let rest = if left >= block { 0 } else { left };
        Ok(Share { start, blocks, len: block, stride, rest })
    }
}

/// The dimensions from the one that varies fastest on.
fn fastest_first(dimensions: usize, order: Order) -> impl Iterator<Item = usize> {
    (0..dimensions).map(move |step| match order {
        Order::C => dimensions - 1 - step,
        Order::Fortran => step,
    })
}

impl Inner<'_> {
    /// A block of an array of `sizes`; see [`Raw::subarray`].
    pub(crate) fn subarray(
        self,
        sizes: &[u64],
        subsizes: &[u64],
        starts: &[u64],
        order: Order,
    ) -> Result<Raw, LayoutError> {
        same_lengths(("sizes", sizes.len()), ("sizes of the block", subsizes.len()))?;
        same_lengths(("sizes", sizes.len()), ("starts", starts.len()))?;
        for (dimension, ((size, len), start)) in sizes.iter().zip(subsizes).zip(starts).enumerate() {
            let end = start.checked_add(*len);
            if end.is_none_or(|end| end > *size) {
                let (start, end, size) = (*start, end.unwrap_or(u64::MAX), *size);
                return Err(LayoutError::Outside { dimension, start, end, size });
            }
        }
        let (mut at, mut stride) = (0, self.extent());
        let mut loops = Loops::new();
        for dimension in fastest_first(sizes.len(), order) {
            at = sums::add(at, sums::mul(sums::signed(starts[dimension])?, stride)?)?;
            loops.push(Loop { count: subsizes[dimension], stride });
            stride = sums::mul(stride, sums::signed(sizes[dimension])?)?;
        }
        loops.reverse();
        let whole = Some((0, stride));
        if self.selects_nothing() || subsizes.contains(&0) {
            return Raw::assemble(SmallVec::new(), whole);
        }
        Raw::assemble([self.within(at, loops)?].into(), whole)
    }
}

impl Raw {
    /// A block of an array of `sizes`: `MPI_Type_create_subarray`. The bounds are those of the whole array: 0, and so many extents
    /// further on as it has elements, which is below 0 if the extent is.
    ///
    /// ```
    /// use chare_layout::{Order, Raw};
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// let inner = Raw::bytes_of(1)?.subarray(&[4, 5], &[2, 3], &[1, 1], Order::C)?;
    /// assert_eq!(inner.runs().collect::<Vec<_>>(), [(6, 3), (11, 3)]);
    /// assert_eq!(inner.extent(), 20);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Lists of different lengths, a block that reaches beyond its array, what does not fit 64 bits.
    pub fn subarray(
        &self,
        sizes: &[u64],
        subsizes: &[u64],
        starts: &[u64],
        order: Order,
    ) -> Result<Self, LayoutError> {
        Inner::from(self).subarray(sizes, subsizes, starts, order)
    }

    /// This process's part of a distributed array: `MPI_Type_create_darray`, with each dimension's process given instead of a
    /// rank. The bounds are those of [`subarray`](Self::subarray).
    ///
    /// ```
    /// use chare_layout::{Distributed, Distribution, Order, Raw};
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// let deal = Distributed { size: 10, distribution: Distribution::Cyclic(2), processes: 2, process: 1 };
    /// let mine = Raw::bytes_of(1)?.darray(&[deal], Order::C)?;
    /// assert_eq!(mine.runs().collect::<Vec<_>>(), [(2, 2), (6, 2)]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`LayoutError::Distribution`], what does not fit 64 bits.
    pub fn darray(&self, dimensions: &[Distributed], order: Order) -> Result<Self, LayoutError> {
        let sizes: Vec<u64> = dimensions.iter().map(|dimension| dimension.size).collect();
        let shares: Result<Vec<Share>, _> =
            dimensions.iter().enumerate().map(|(number, dimension)| dimension.share(number)).collect();
        self.shared(&sizes, &shares?, order)
    }

    fn shared(&self, sizes: &[u64], shares: &[Share], order: Order) -> Result<Self, LayoutError> {
        let mut ops = self.ops.clone();
        let mut next = self.extent();
        for dimension in fastest_first(sizes.len(), order) {
            let (share, stride) = (&shares[dimension], next);
            next = sums::mul(stride, sums::signed(sizes[dimension])?)?;
            let place = |element: u64| sums::mul(sums::signed(element)?, stride);
            let row = |count: u64| Loop { count, stride };
            let mut parts: SmallVec<[Op; 1]> = SmallVec::new();
            if share.blocks > 0 {
                // Where a second block would lie may be further than anything is.
                let apart = if share.blocks > 1 { place(share.stride)? } else { 0 };
                let blocks = Loop { count: share.blocks, stride: apart };
                let loops: Loops = [blocks, row(share.len)].into_iter().collect();
                parts.push(group(&ops, place(share.start)?, loops)?);
            }
            if share.rest > 0 {
                let behind = sums::add_bytes(share.start, sums::mul_bytes(share.blocks, share.stride)?)?;
                parts.push(group(&ops, place(behind)?, std::iter::once(row(share.rest)).collect())?);
            }
            ops = crate::value::canonical::canonical(parts)?;
        }
        Self::assemble(ops, Some((0, next)))
    }
}
