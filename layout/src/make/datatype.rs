//! Datatypes as MPI bounds them: a layout, the alignment of the basic types that it was made of, and whether its bounds were said.
//!
//! [`Raw`] takes bytes as they are. MPI, like a compiler of C, *pads*: what is made of `{double, char}` is 16 bytes long, not 9, so
//! that the doubles of many in a row are aligned. And it *marks*: where some of what a datatype is made of has bounds that were said,
//! the bounds of these count alone, and nothing is padded.
//!
//! 1. A basic type has the size and the alignment of a type of Rust; what is built has the greatest alignment of all in it.
//! 2. Bounds that were not said are the lowest lower and the highest upper bound of all copies; the upper one is raised until the
//!    extent is a multiple of the alignment.
//! 3. `resized`, `subarray` and `darray` say bounds, and they stick: what is built of them has the bounds of those copies.
//!
//! So do the standard and Open MPI for all constructors. MPICH pads structs alone, and no bounds stick there: its datatypes differ
//! where a stride in bytes is no multiple of the alignment, and where only some fields have bounds that were said.

use crate::value::sums;
use crate::{Distributed, LayoutError, Order, Raw};
use smallvec::SmallVec;
use std::ops::Deref;

/// A layout with the bounds that MPI would give it: for programs that were written for MPI.
///
/// What is known of it are methods of [`Raw`], to which it dereferences; [`Layout::from_raw`](crate::Layout::from_raw) takes what
/// [`into_raw`](Self::into_raw) gives.
///
/// ```
/// use chare_layout::{Datatype, Layout, Raw};
/// # fn main() -> Result<(), chare_layout::LayoutError> {
/// let (double, char) = (Datatype::basic::<f64>(), Datatype::basic::<u8>());
/// let entry = Datatype::structure(&[(1, 0, &double), (1, 8, &char)])?;
/// assert_eq!((entry.bytes(), entry.extent()), (9, 16));
/// assert_eq!(entry.contiguous(2)?.runs().collect::<Vec<_>>(), [(0, 9), (16, 9)]);
///
/// let bytes = Raw::structure(&[(1, 0, &double), (1, 8, &char)])?;
/// assert_eq!(bytes.extent(), 9, "a `Raw` is not padded");
/// let table = Layout::<u8>::from_raw(entry.contiguous(100)?.into_raw())?;
/// assert_eq!(table.extent(), 1600);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Datatype {
    raw: Raw,
    /// What its extent is a multiple of, unless its bounds were said; 1 if it is made of nothing.
    alignment: u64,
    /// Whether its bounds were said, or are those of parts whose bounds were.
    is_marked: bool,
}

impl Datatype {
    /// A basic type: `MPI_DOUBLE` is `basic::<f64>()`, `MPI_CHAR` is `basic::<u8>()`.
    pub fn basic<T>() -> Self {
        let raw = Raw::bytes_of(size_of::<T>() as u64).expect("types are shorter than 2^63 bytes");
        Self { raw, alignment: align_of::<T>() as u64, is_marked: false }
    }

    /// The layout alone.
    pub fn into_raw(self) -> Raw {
        self.raw
    }

    /// What its extent was padded to a multiple of, if its bounds were not said.
    pub fn alignment(&self) -> u64 {
        self.alignment
    }

    /// What was built of this one.
    fn built(&self, raw: Result<Raw, LayoutError>) -> Result<Self, LayoutError> {
        Self::new(raw?, self.alignment, self.is_marked)
    }

    /// What was built of this one, whose bounds were said.
    fn marked(&self, raw: Result<Raw, LayoutError>) -> Result<Self, LayoutError> {
        Self::new(raw?, self.alignment, true)
    }

    /// Pads what is not marked; of nothing nothing is left, neither an alignment nor a mark.
    fn new(raw: Raw, alignment: u64, is_marked: bool) -> Result<Self, LayoutError> {
        if (raw.bytes(), raw.lower_bound(), raw.upper_bound()) == (0, 0, 0) {
            return Ok(Self { raw, alignment: 1, is_marked: false });
        }
        let raw = if is_marked { raw } else { padded(raw, alignment)? };
        Ok(Self { raw, alignment, is_marked })
    }

    /// `MPI_Type_contiguous`.
    ///
    /// # Errors
    /// As [`Raw::contiguous`].
    pub fn contiguous(&self, count: u64) -> Result<Self, LayoutError> {
        self.built(self.raw.contiguous(count))
    }

    /// `MPI_Type_vector`.
    ///
    /// # Errors
    /// As [`Raw::vector`].
    pub fn vector(&self, count: u64, len: u64, stride: i64) -> Result<Self, LayoutError> {
        self.built(self.raw.vector(count, len, stride))
    }

    /// `MPI_Type_create_hvector`.
    ///
    /// # Errors
    /// As [`Raw::hvector`].
    pub fn hvector(&self, count: u64, len: u64, stride_bytes: i64) -> Result<Self, LayoutError> {
        self.built(self.raw.hvector(count, len, stride_bytes))
    }

    /// `MPI_Type_indexed`.
    ///
    /// # Errors
    /// As [`Raw::indexed`].
    pub fn indexed(&self, lens: &[u64], places: &[i64]) -> Result<Self, LayoutError> {
        self.built(self.raw.indexed(lens, places))
    }

    /// `MPI_Type_create_hindexed`.
    ///
    /// # Errors
    /// As [`Raw::hindexed`].
    pub fn hindexed(&self, lens: &[u64], places_bytes: &[i64]) -> Result<Self, LayoutError> {
        self.built(self.raw.hindexed(lens, places_bytes))
    }

    /// `MPI_Type_create_indexed_block`.
    ///
    /// # Errors
    /// As [`Raw::indexed_block`].
    pub fn indexed_block(&self, len: u64, places: &[i64]) -> Result<Self, LayoutError> {
        self.built(self.raw.indexed_block(len, places))
    }

    /// `MPI_Type_create_hindexed_block`.
    ///
    /// # Errors
    /// As [`Raw::hindexed_block`].
    pub fn hindexed_block(&self, len: u64, places_bytes: &[i64]) -> Result<Self, LayoutError> {
        self.built(self.raw.hindexed_block(len, places_bytes))
    }

    /// `MPI_Type_create_struct`: fields `(how many, place in bytes, type)` one after the other.
    ///
    /// ```
    /// use chare_layout::Datatype;
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// let (int, row) = (Datatype::basic::<i32>(), Datatype::basic::<u8>().resized(0, 10)?);
    /// let both = Datatype::structure(&[(1, 32, &int), (2, 0, &row)])?;
    /// assert_eq!((both.lower_bound(), both.extent()), (0, 20), "the rows alone say where it ends");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Raw::structure`].
    pub fn structure(fields: &[(u64, i64, &Self)]) -> Result<Self, LayoutError> {
        let some = || fields.iter().filter(|(count, ..)| *count > 0);
        let raws: SmallVec<[_; 8]> = some().map(|(count, at, field)| (*count, *at, &field.raw)).collect();
        let raw = Raw::structure(&raws)?;
        let alignment = some().map(|(.., field)| field.alignment).max().unwrap_or(1);
        let marked: SmallVec<[_; 8]> = some()
            .filter(|(.., field)| field.is_marked)
            .map(|(count, at, field)| (*count, *at, &field.raw))
            .collect();
        if marked.is_empty() || marked.len() == raws.len() {
            return Self::new(raw, alignment, !marked.is_empty());
        }
        let said = Raw::structure(&marked)?;
        Self::new(raw.bounded(said.lower_bound(), said.upper_bound())?, alignment, true)
    }

    /// `MPI_Type_create_subarray`.
    ///
    /// # Errors
    /// As [`Raw::subarray`].
    pub fn subarray(
        &self,
        sizes: &[u64],
        subsizes: &[u64],
        starts: &[u64],
        order: Order,
    ) -> Result<Self, LayoutError> {
        self.marked(self.raw.subarray(sizes, subsizes, starts, order))
    }

    /// `MPI_Type_create_darray`.
    ///
    /// # Errors
    /// As [`Raw::darray`].
    pub fn darray(&self, dimensions: &[Distributed], order: Order) -> Result<Self, LayoutError> {
        self.marked(self.raw.darray(dimensions, order))
    }

    /// `MPI_Type_create_resized`.
    ///
    /// # Errors
    /// As [`Raw::resized`].
    pub fn resized(&self, lower_bound: i64, extent: i64) -> Result<Self, LayoutError> {
        self.marked(self.raw.resized(lower_bound, extent))
    }
}

impl Deref for Datatype {
    type Target = Raw;

    fn deref(&self) -> &Raw {
        &self.raw
    }
}

/// The same with the upper bound raised until the extent is a multiple of the alignment.
fn padded(raw: Raw, alignment: u64) -> Result<Raw, LayoutError> {
    // An extent below 0 was said, and what is made of such is no less than 0 long.
    let gap = match u64::try_from(raw.extent()) {
        Ok(extent) => extent.next_multiple_of(alignment) - extent,
        Err(_) => 0,
    };
    if gap == 0 {
        return Ok(raw);
    }
    let (low, high) = (raw.lower_bound(), sums::add(raw.upper_bound(), sums::signed(gap)?)?);
    raw.bounded(low, high)
}
