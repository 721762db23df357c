//! Selections as trees of MPI's constructors: from one tree come the layout and, in benches, the derived datatype of an MPI.

use chare::layout::{LayoutError, Order, Raw};

/// A selection, as nested constructors of MPI; only those that DDTBench uses. Built from [`Tree::Element`] by the methods of the
/// constructors' names.
///
/// ```
/// use chare_examples::ddtbench::Tree;
/// // A face of a grid of 4 x 4 x 4 doubles.
/// let face = Tree::Element.vector(4, 1, 4).hvector(4, 1, 4 * 4 * 8);
/// assert_eq!(face.raw(8)?.bytes(), 16 * 8);
/// # Ok::<(), chare::layout::LayoutError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tree {
    /// One element of the array: `MPI_FLOAT`, `MPI_DOUBLE`.
    Element,
    /// `MPI_Type_contiguous`.
    Contiguous {
        /// Copies in a row.
        count: u64,
        /// What is copied.
        of: Box<Tree>,
    },
    /// `MPI_Type_vector`.
    Vector {
        /// Blocks.
        count: u64,
        /// Copies in a block.
        len: u64,
        /// Distance of blocks, in extents of what is copied.
        stride: i64,
        /// What is copied.
        of: Box<Tree>,
    },
    /// `MPI_Type_create_hvector`.
    Hvector {
        /// Blocks.
        count: u64,
        /// Copies in a block.
        len: u64,
        /// Distance of blocks, in bytes.
        stride_bytes: i64,
        /// What is copied.
        of: Box<Tree>,
    },
    /// `MPI_Type_create_indexed_block`.
    IndexedBlock {
        /// Copies in a block.
        len: u64,
        /// Where blocks stand, in extents of what is copied.
        places: Vec<i64>,
        /// What is copied.
        of: Box<Tree>,
    },
    /// `MPI_Type_create_subarray` in the order of C.
    Subarray {
        /// Size, length of the block and its start, of each dimension; the last one varies fastest.
        dims: Vec<(u64, u64, u64)>,
        /// What the array consists of.
        of: Box<Tree>,
    },
    /// `MPI_Type_create_resized` from place 0 on.
    Resized {
        /// Distance of two copies in a row, in bytes.
        extent_bytes: i64,
        /// What has other bounds.
        of: Box<Tree>,
    },
}

impl Tree {
    /// `count` of these in a row.
    #[must_use]
    pub fn contiguous(self, count: usize) -> Self {
        Self::Contiguous { count: count as u64, of: Box::new(self) }
    }

    /// `count` blocks of `len`, `stride` extents apart.
    #[must_use]
    pub fn vector(self, count: usize, len: usize, stride: usize) -> Self {
        Self::Vector { count: count as u64, len: len as u64, stride: stride as i64, of: Box::new(self) }
    }

    /// `count` blocks of `len`, `stride_bytes` apart.
    #[must_use]
    pub fn hvector(self, count: usize, len: usize, stride_bytes: usize) -> Self {
        let (count, len) = (count as u64, len as u64);
        Self::Hvector { count, len, stride_bytes: stride_bytes as i64, of: Box::new(self) }
    }

    /// Blocks of `len` at these places, in extents.
    #[must_use]
    pub fn indexed_block(self, len: usize, places: impl IntoIterator<Item = usize>) -> Self {
        let places = places.into_iter().map(|place| place as i64).collect();
        Self::IndexedBlock { len: len as u64, places, of: Box::new(self) }
    }

    /// A block of an array: size, length and start along each dimension, the last one varying fastest.
    #[must_use]
    pub fn subarray(self, dims: &[(usize, usize, usize)]) -> Self {
        let dims = dims.iter().map(|(size, len, start)| (*size as u64, *len as u64, *start as u64));
        Self::Subarray { dims: dims.collect(), of: Box::new(self) }
    }

    /// The same with another distance of two in a row.
    #[must_use]
    pub fn resized(self, extent_bytes: usize) -> Self {
        Self::Resized { extent_bytes: extent_bytes as i64, of: Box::new(self) }
    }

    /// The layout of elements of so many bytes.
    ///
    /// # Errors
    /// What does not fit 64 bits, more places than a layout may have, a block beyond its array.
    pub fn raw(&self, element_bytes: u64) -> Result<Raw, LayoutError> {
        let inner = |of: &Self| of.raw(element_bytes);
        match self {
            Self::Element => Raw::bytes_of(element_bytes),
            Self::Contiguous { count, of } => inner(of)?.contiguous(*count),
            Self::Vector { count, len, stride, of } => inner(of)?.vector(*count, *len, *stride),
            Self::Hvector { count, len, stride_bytes, of } => inner(of)?.hvector(*count, *len, *stride_bytes),
            Self::IndexedBlock { len, places, of } => inner(of)?.indexed_block(*len, places),
            Self::Subarray { dims, of } => {
                let sizes: Vec<u64> = dims.iter().map(|dim| dim.0).collect();
                let lens: Vec<u64> = dims.iter().map(|dim| dim.1).collect();
                let starts: Vec<u64> = dims.iter().map(|dim| dim.2).collect();
                inner(of)?.subarray(&sizes, &lens, &starts, Order::C)
            }
            Self::Resized { extent_bytes, of } => inner(of)?.resized(0, *extent_bytes),
        }
    }
}
