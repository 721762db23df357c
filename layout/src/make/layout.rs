//! The typed value: which elements of a buffer of `T`, in which order.

use crate::value::sums;
use crate::{LayoutError, Raw};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

/// Which elements of a buffer of `T`, in which order; `P` is what one packed element is.
///
/// Cloning shares; equal content is equal. What is known of it (bytes, span, extent, runs, digest) are methods of [`Raw`], to
/// which it dereferences.
///
/// ```
/// use chare_layout::Layout;
/// # fn main() -> Result<(), chare_layout::LayoutError> {
/// let column = Layout::<f64>::vector(10, 1, 20)?;
/// assert_eq!((column.len(), column.bytes(), column.span()), (10, 80, 9 * 160 + 8));
/// assert_eq!(column, Layout::strided(&[10], &[20])?);
/// # Ok(())
/// # }
/// ```
pub struct Layout<T, P = T> {
    raw: Arc<Raw>,
    types: PhantomData<fn() -> (T, P)>,
}

impl<T, P> Layout<T, P> {
    /// The layout of this value, shared or not, whose stream must be whole packed elements.
    ///
    /// # Errors
    /// [`LayoutError::NotWhole`].
    pub fn from_raw(raw: impl Into<Arc<Raw>>) -> Result<Self, LayoutError> {
        let raw = raw.into();
        let element = size_of::<P>() as u64;
        if element == 0 || !raw.bytes().is_multiple_of(element) {
            return Err(LayoutError::NotWhole { grain: raw.bytes(), element });
        }
        Ok(Self { raw, types: PhantomData })
    }

    /// The shared value without types.
    pub fn raw(&self) -> &Arc<Raw> {
        &self.raw
    }

    /// Packed elements.
    pub fn len(&self) -> usize {
        usize::try_from(self.bytes() / size_of::<P>() as u64).unwrap_or(usize::MAX)
    }

    /// Whether it selects nothing.
    pub fn is_empty(&self) -> bool {
        self.bytes() == 0
    }

    /// This selection, then `next`, of the same buffer.
    ///
    /// # Errors
    /// As [`Raw::structure`].
    pub fn then(&self, next: &Self) -> Result<Self, LayoutError> {
        Self::from_raw(self.raw.then(next)?)
    }

    /// `count` of these, each an extent behind the one before.
    ///
    /// # Errors
    /// What does not fit 64 bits.
    pub fn repeat(&self, count: u64) -> Result<Self, LayoutError> {
        Self::from_raw(self.raw.contiguous(count)?)
    }

    /// The same selection, `by` elements further on.
    ///
    /// # Errors
    /// What does not fit 64 bits.
    pub fn shifted(&self, by: i64) -> Result<Self, LayoutError> {
        Self::from_raw(self.raw.shifted(bytes::<T>(by)?)?)
    }

    /// The same selection with other bounds, in elements: what [`repeat`](Self::repeat) and nesting step by.
    ///
    /// # Errors
    /// What does not fit 64 bits.
    pub fn resized(&self, lower_bound: i64, extent: i64) -> Result<Self, LayoutError> {
        Self::from_raw(self.raw.resized(bytes::<T>(lower_bound)?, bytes::<T>(extent)?)?)
    }
}

impl<T> Layout<T> {
    fn element() -> Result<Raw, LayoutError> {
        Raw::bytes_of(size_of::<T>() as u64)
    }

    /// The first `count` elements.
    ///
    /// # Errors
    /// What does not fit 64 bits.
    pub fn contiguous(count: u64) -> Result<Self, LayoutError> {
        Self::from_raw(Self::element()?.contiguous(count)?)
    }

    /// `count` blocks of `len` elements, `stride` elements apart.
    ///
    /// # Errors
    /// What does not fit 64 bits.
    pub fn vector(count: u64, len: u64, stride: i64) -> Result<Self, LayoutError> {
        Self::from_raw(Self::element()?.vector(count, len, stride)?)
    }

    /// Blocks of these lengths at these places.
    ///
    /// # Errors
    /// As [`Raw::indexed`].
    pub fn indexed(lens: &[u64], places: &[i64]) -> Result<Self, LayoutError> {
        Self::from_raw(Self::element()?.indexed(lens, places)?)
    }

    /// Blocks of `len` elements at these places.
    ///
    /// # Errors
    /// As [`Raw::indexed_block`].
    pub fn indexed_block(len: u64, places: &[i64]) -> Result<Self, LayoutError> {
        Self::from_raw(Self::element()?.indexed_block(len, places)?)
    }

    /// All elements of an array whose neighbours along each dimension are so many elements apart, the last index fastest; its
    /// first one is the buffer's. Negative strides reach before it: see [`shifted`](Self::shifted).
    ///
    /// ```
    /// use chare_layout::Layout;
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// // A matrix of 3 x 4, read by columns.
    /// let columns = Layout::<u8>::strided(&[4, 3], &[1, 4])?;
    /// assert_eq!(columns.runs().take(4).collect::<Vec<_>>(), [(0, 1), (4, 1), (8, 1), (1, 1)]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Lists of different lengths, what does not fit 64 bits.
    pub fn strided(shape: &[usize], strides: &[isize]) -> Result<Self, LayoutError> {
        crate::make::constructors::same_lengths(("sizes", shape.len()), ("strides", strides.len()))?;
        let mut raw = Self::element()?;
        for (count, stride) in shape.iter().zip(strides).rev() {
            raw = raw.hvector(*count as u64, 1, bytes::<T>(*stride as i64)?)?;
        }
        Self::from_raw(raw)
    }

    /// Each selected element laid out as `inner`: which elements, then what of each.
    ///
    /// ```
    /// use chare_layout::{Layout, Raw};
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// #[repr(C)]
    /// struct Particle { id: u64, place: [f64; 3], charge: f64 }
    /// // Place and identity of particles 3, 1 and 8.
    /// let fields = Raw::bytes_of(8)?.hindexed(&[3, 1], &[8, 0])?;
    /// let fields = Layout::<Particle, [f64; 4]>::from_raw(fields)?;
    /// let some = Layout::<Particle>::indexed_block(1, &[3, 1, 8])?.of(&fields)?;
    /// assert_eq!(some.len(), 3);
    /// assert_eq!(some.runs().take(2).collect::<Vec<_>>(), [(128, 24), (120, 8)]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Raw::of`].
    pub fn of<P>(&self, inner: &Layout<T, P>) -> Result<Layout<T, P>, LayoutError> {
        Layout::from_raw(self.raw.of(size_of::<T>() as u64, inner)?)
    }
}

fn bytes<T>(elements: i64) -> Result<i64, LayoutError> {
    sums::mul(elements, size_of::<T>() as i64)
}

impl<T, P> Deref for Layout<T, P> {
    type Target = Raw;

    fn deref(&self) -> &Raw {
        &self.raw
    }
}

impl<T, P> Clone for Layout<T, P> {
    fn clone(&self) -> Self {
        Self { raw: Arc::clone(&self.raw), types: PhantomData }
    }
}

impl<T, P> PartialEq for Layout<T, P> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.raw, &other.raw) || self.raw == other.raw
    }
}

impl<T, P> Eq for Layout<T, P> {}

impl<T, P> fmt::Debug for Layout<T, P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(formatter)
    }
}
