//! The typed value: which elements of a buffer of `T`, in which order.

use crate::make::inner::{Inner, Row};
use crate::value::sums;
use crate::{LayoutError, Raw};
use smallvec::SmallVec;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
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

    /// These bytes of one `T`, in this order: fields of a struct. Its extent is a `T`, so that repeating it goes on in the next one.
    ///
    /// In programs, `#[derive(chare::Layout)]` writes such ranges, and the struct of a packed element.
    ///
    /// ```
    /// use chare_layout::Layout;
    /// use std::mem::offset_of;
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// #[repr(C)]
    /// struct Particle { id: u64, place: [f64; 3], charge: f64 }
    /// let (id, place) = (offset_of!(Particle, id), offset_of!(Particle, place));
    /// let fields = Layout::<Particle, [f64; 4]>::fields(&[place..place + 24, id..id + 8])?;
    /// let two = fields.repeat(2)?;
    /// assert_eq!(two.runs().collect::<Vec<_>>(), [(8, 24), (0, 8), (48, 24), (40, 8)]);
    /// assert!(Layout::<Particle, u64>::fields(&[36..44]).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`LayoutError::OutOfBounds`] for what is no part of a `T`, [`LayoutError::NotWhole`] for bytes that are no packed elements.
    pub fn fields(fields: &[Range<usize>]) -> Result<Self, LayoutError> {
        let byte = Raw::bytes_of(1)?;
        // A place beyond `i64` becomes one before the start, which is out of bounds, too.
        let fields = fields.iter().map(|field| (field.len() as u64, field.start as i64, &byte));
        let raw = Raw::structure(&fields.collect::<Vec<_>>())?.resized(0, size_of::<T>() as i64)?;
        raw.check_bounds(size_of::<T>() as u64)?;
        Self::from_raw(raw)
    }

    /// The shared value without types.
    pub fn raw(&self) -> &Arc<Raw> {
        &self.raw
    }

    /// The same, for a holder that needs the types no more.
    pub fn into_raw(self) -> Arc<Raw> {
        self.raw
    }

    /// The same selection, whose packed elements are bytes: what selections of unlike elements have in common.
    pub fn in_bytes(&self) -> Layout<T, u8> {
        Layout { raw: Arc::clone(&self.raw), types: PhantomData }
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
    fn element() -> Result<Row, LayoutError> {
        Row::new(size_of::<T>() as u64)
    }

    /// The first `count` elements.
    ///
    /// # Errors
    /// What does not fit 64 bits.
    pub fn contiguous(count: u64) -> Result<Self, LayoutError> {
        Self::from_raw(Inner::from(&Self::element()?).contiguous(count)?)
    }

    /// `count` blocks of `len` elements, `stride` elements apart.
    ///
    /// # Errors
    /// What does not fit 64 bits.
    pub fn vector(count: u64, len: u64, stride: i64) -> Result<Self, LayoutError> {
        Self::from_raw(Inner::from(&Self::element()?).vector(count, len, stride)?)
    }

    /// Blocks of these lengths at these places.
    ///
    /// # Errors
    /// As [`Raw::indexed`].
    pub fn indexed(lens: &[u64], places: &[i64]) -> Result<Self, LayoutError> {
        Self::from_raw(Raw::bytes_of(size_of::<T>() as u64)?.indexed(lens, places)?)
    }

    /// Blocks of `len` elements at these places.
    ///
    /// # Errors
    /// As [`Raw::indexed_block`].
    pub fn indexed_block(len: u64, places: &[i64]) -> Result<Self, LayoutError> {
        Self::from_raw(Raw::bytes_of(size_of::<T>() as u64)?.indexed_block(len, places)?)
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
        let loops =
            shape.iter().zip(strides).map(|(count, stride)| Ok((*count as u64, bytes::<T>(*stride as i64)?)));
        let loops = loops.collect::<Result<SmallVec<[_; 8]>, LayoutError>>()?;
        Self::from_raw(Inner::from(&Self::element()?).nested(0, &loops)?)
    }

    /// Each selected element laid out as `inner`: which elements, then what of each.
    ///
    /// ```
    /// use chare_layout::Layout;
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// #[repr(C)]
    /// struct Particle { id: u64, place: [f64; 3], charge: f64 }
    /// // Place and identity of particles 3, 1 and 8.
    /// let fields = Layout::<Particle, [f64; 4]>::fields(&[8..32, 0..8])?;
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
