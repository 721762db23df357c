//! Derived datatypes: which bytes of a buffer MPI means, made by its constructors, and packed by it.
//!
//! The constructors are methods of the inner type, with MPI's arguments in MPI's order. What is made is freed with its value;
//! what was built of it stays.

#![expect(unsafe_code, reason = "calls functions of a shared library")]

use crate::abi::Handle;
use crate::error::MpiError;
use crate::library::Library;
use std::ffi::c_int;
use std::fmt;
use std::marker::PhantomData;

/// A datatype. It stays on its thread, the one that [`Datatype::bytes`] was promised about.
///
/// ```no_run
/// use chare_mpi_sys::{Datatype, Library, Threads};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let library = Library::load(&["libmpich.so.12", "libmpi.so.40"])?;
/// // SAFETY: nobody else initialises it, here on the only thread, and it is not ended.
/// let byte = unsafe {
///     library.init(Threads::Single)?;
///     Datatype::bytes(library, 1)?
/// };
/// let every_third = byte.vector(2, 1, 3)?.commit()?;
/// assert_eq!(every_third.pack(b"a..b..", 0)?, b"ab");
/// # Ok(())
/// # }
/// ```
pub struct Datatype {
    pub(crate) library: &'static Library,
    pub(crate) handle: Handle,
    thread: PhantomData<*const ()>,
}

/// Where a datatype lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// The lower bound, in bytes.
    pub lower: isize,
    /// From there to the upper bound.
    pub extent: isize,
}

/// A type that MPI knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Basic {
    /// One byte.
    Byte,
    /// Four.
    Float,
    /// Eight.
    Double,
}

/// Which index of an array varies fastest in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The last one.
    C,
    /// The first one.
    Fortran,
}

/// How a dimension of an array is dealt out to processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Distribution {
    /// A block each, of the default length.
    Block,
    /// Blocks of this length in turn.
    Cyclic(c_int),
    /// Not at all.
    None,
}

/// A dimension of an array that is dealt out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dimension {
    /// Elements of the whole array.
    pub size: c_int,
    /// How they are dealt out.
    pub distribution: Distribution,
    /// Processes along this dimension.
    pub processes: c_int,
    /// Which of them is meant.
    pub process: c_int,
}

impl fmt::Debug for Datatype {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Datatype({:#x})", self.handle.0)
    }
}

impl Drop for Datatype {
    fn drop(&mut self) {
        // SAFETY: it was made by a constructor and is freed once; the rest is what `Datatype::bytes` was promised. Failures
        // leave a datatype behind, which nobody can use any more.
        unsafe { (self.library.functions.type_free)(&raw mut self.handle) };
    }
}

impl Datatype {
    /// `count` bytes in a row: the first of every nest.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Safety
    /// MPI is initialised, lets the calling thread call it, and is not ended as long as this or anything built of it lives. No
    /// other thread calls it meanwhile, unless any thread may ([`Threads::Multiple`](crate::Threads)).
    pub unsafe fn bytes(library: &'static Library, count: c_int) -> Result<Self, MpiError> {
        // SAFETY: the caller's.
        unsafe { Self::of(library, Basic::Byte, count) }
    }

    /// `count` of a basic type in a row.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Safety
    /// As for [`Datatype::bytes`].
    pub unsafe fn of(library: &'static Library, basic: Basic, count: c_int) -> Result<Self, MpiError> {
        let handle = match basic {
            Basic::Byte => library.handles.byte,
            Basic::Float => library.handles.float,
            Basic::Double => library.handles.double,
        };
        Self::make(library, "MPI_Type_contiguous", |new| {
            // SAFETY: a predefined type; the rest is the caller's.
            unsafe { (library.functions.type_contiguous)(count, handle, new) }
        })
    }

    /// `constructor` is told where the new handle goes.
    fn make(
        library: &'static Library,
        name: &'static str,
        constructor: impl FnOnce(*mut Handle) -> c_int,
    ) -> Result<Self, MpiError> {
        let mut handle = Handle(0);
        library.check(name, constructor(&raw mut handle))?;
        Ok(Self { library, handle, thread: PhantomData })
    }

    /// `MPI_Type_contiguous`.
    ///
    /// # Errors
    /// MPI's.
    pub fn contiguous(&self, count: c_int) -> Result<Self, MpiError> {
        Self::make(self.library, "MPI_Type_contiguous", |new| {
            // SAFETY: a live handle, on the thread that may call MPI (`Datatype::bytes`).
            unsafe { (self.library.functions.type_contiguous)(count, self.handle, new) }
        })
    }

    /// `MPI_Type_vector`.
    ///
    /// # Errors
    /// MPI's.
    pub fn vector(&self, count: c_int, len: c_int, stride: c_int) -> Result<Self, MpiError> {
        Self::make(self.library, "MPI_Type_vector", |new| {
            // SAFETY: as in `contiguous`.
            unsafe { (self.library.functions.type_vector)(count, len, stride, self.handle, new) }
        })
    }

    /// `MPI_Type_create_hvector`; the stride is in bytes.
    ///
    /// # Errors
    /// MPI's.
    pub fn hvector(&self, count: c_int, len: c_int, stride: isize) -> Result<Self, MpiError> {
        Self::make(self.library, "MPI_Type_create_hvector", |new| {
            // SAFETY: as in `contiguous`.
            unsafe { (self.library.functions.type_hvector)(count, len, stride, self.handle, new) }
        })
    }

    /// `MPI_Type_indexed`; a block is its length and its place.
    ///
    /// # Errors
    /// MPI's.
    pub fn indexed(&self, blocks: &[(c_int, c_int)]) -> Result<Self, MpiError> {
        let (lens, places): (Vec<_>, Vec<_>) = blocks.iter().copied().unzip();
        Self::make(self.library, "MPI_Type_indexed", |new| {
            let (count, lens, places) = (count_of(&lens), lens.as_ptr(), places.as_ptr());
            // SAFETY: as in `contiguous`; both lists have `count` entries.
            unsafe { (self.library.functions.type_indexed)(count, lens, places, self.handle, new) }
        })
    }

    /// `MPI_Type_create_hindexed`; a block is its length and its place in bytes.
    ///
    /// # Errors
    /// MPI's.
    pub fn hindexed(&self, blocks: &[(c_int, isize)]) -> Result<Self, MpiError> {
        let (lens, places): (Vec<_>, Vec<_>) = blocks.iter().copied().unzip();
        Self::make(self.library, "MPI_Type_create_hindexed", |new| {
            let (count, lens, places) = (count_of(&lens), lens.as_ptr(), places.as_ptr());
            // SAFETY: as in `indexed`.
            unsafe { (self.library.functions.type_hindexed)(count, lens, places, self.handle, new) }
        })
    }

    /// `MPI_Type_create_indexed_block`.
    ///
    /// # Errors
    /// MPI's.
    pub fn indexed_block(&self, len: c_int, places: &[c_int]) -> Result<Self, MpiError> {
        Self::make(self.library, "MPI_Type_create_indexed_block", |new| {
            let (count, places) = (count_of(places), places.as_ptr());
            // SAFETY: as in `contiguous`; the list has `count` entries.
            unsafe { (self.library.functions.type_indexed_block)(count, len, places, self.handle, new) }
        })
    }

    /// `MPI_Type_create_hindexed_block`; places are in bytes.
    ///
    /// # Errors
    /// MPI's.
    pub fn hindexed_block(&self, len: c_int, places: &[isize]) -> Result<Self, MpiError> {
        Self::make(self.library, "MPI_Type_create_hindexed_block", |new| {
            let (count, places) = (count_of(places), places.as_ptr());
            // SAFETY: as in `indexed_block`.
            unsafe { (self.library.functions.type_hindexed_block)(count, len, places, self.handle, new) }
        })
    }

    /// `MPI_Type_create_struct`; a field is how many, its place in bytes, and of what.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Panics
    /// If there are no fields, or they are of several MPIs.
    pub fn structure(fields: &[(c_int, isize, &Self)]) -> Result<Self, MpiError> {
        let library = fields.first().expect("a struct has fields").2.library;
        assert!(fields.iter().all(|field| std::ptr::eq(field.2.library, library)), "fields of several MPIs");
        let lens: Vec<c_int> = fields.iter().map(|field| field.0).collect();
        let places: Vec<isize> = fields.iter().map(|field| field.1).collect();
        let types: Vec<Handle> = fields.iter().map(|field| field.2.handle).collect();
        let types = library.abi().array_of(&types);
        Self::make(library, "MPI_Type_create_struct", |new| {
            let (count, types) = (count_of(&lens), types.as_ptr().cast());
            // SAFETY: as in `contiguous`; all three lists have `count` entries of this ABI.
            unsafe { (library.functions.type_struct)(count, lens.as_ptr(), places.as_ptr(), types, new) }
        })
    }

    /// `MPI_Type_create_subarray`; a dimension is its size, how much of it, and from where on.
    ///
    /// # Errors
    /// MPI's.
    pub fn subarray(&self, dimensions: &[(c_int, c_int, c_int)], order: Order) -> Result<Self, MpiError> {
        let sizes: Vec<c_int> = dimensions.iter().map(|dimension| dimension.0).collect();
        let lens: Vec<c_int> = dimensions.iter().map(|dimension| dimension.1).collect();
        let starts: Vec<c_int> = dimensions.iter().map(|dimension| dimension.2).collect();
        let (sizes, lens, starts) = (sizes.as_ptr(), lens.as_ptr(), starts.as_ptr());
        let (count, order) = (count_of(dimensions), self.number_of(order));
        Self::make(self.library, "MPI_Type_create_subarray", |new| {
            // SAFETY: as in `contiguous`; all three lists have `count` entries.
            unsafe {
                (self.library.functions.type_subarray)(count, sizes, lens, starts, order, self.handle, new)
            }
        })
    }

    /// `MPI_Type_create_darray`, of the process that the dimensions say.
    ///
    /// # Errors
    /// MPI's.
    pub fn darray(&self, dimensions: &[Dimension], order: Order) -> Result<Self, MpiError> {
        let arrays = self.library.abi().arrays();
        let list = |of: fn(&Dimension) -> c_int| dimensions.iter().map(of).collect::<Vec<c_int>>();
        let (sizes, processes) = (list(|dimension| dimension.size), list(|dimension| dimension.processes));
        let (distributions, arguments): (Vec<c_int>, Vec<c_int>) = dimensions
            .iter()
            .map(|dimension| match dimension.distribution {
                Distribution::Block => (arrays.block, arrays.default_argument),
                Distribution::Cyclic(len) => (arrays.cyclic, len),
                Distribution::None => (arrays.none, arrays.default_argument),
            })
            .unzip();
        // Processes are numbered as the elements of an array in C are, whatever the order.
        let rank =
            dimensions.iter().fold(0, |rank, dimension| rank * dimension.processes + dimension.process);
        let (all, count, order) = (processes.iter().product(), count_of(dimensions), self.number_of(order));
        Self::make(self.library, "MPI_Type_create_darray", |new| {
            // SAFETY: as in `contiguous`; all four lists have `count` entries.
            unsafe {
                (self.library.functions.type_darray)(
                    all,
                    rank,
                    count,
                    sizes.as_ptr(),
                    distributions.as_ptr(),
                    arguments.as_ptr(),
                    processes.as_ptr(),
                    order,
                    self.handle,
                    new,
                )
            }
        })
    }

    /// `MPI_Type_create_resized`.
    ///
    /// # Errors
    /// MPI's.
    pub fn resized(&self, bounds: Bounds) -> Result<Self, MpiError> {
        let Bounds { lower, extent } = bounds;
        Self::make(self.library, "MPI_Type_create_resized", |new| {
            // SAFETY: as in `contiguous`.
            unsafe { (self.library.functions.type_resized)(self.handle, lower, extent, new) }
        })
    }

    /// `MPI_Type_size`: bytes packed.
    ///
    /// # Errors
    /// MPI's.
    pub fn size(&self) -> Result<c_int, MpiError> {
        let mut size = 0;
        // SAFETY: as in `contiguous`.
        let code = unsafe { (self.library.functions.type_size)(self.handle, &raw mut size) };
        self.library.check("MPI_Type_size", code).map(|()| size)
    }

    /// `MPI_Type_get_extent`.
    ///
    /// # Errors
    /// MPI's.
    pub fn bounds(&self) -> Result<Bounds, MpiError> {
        let (mut lower, mut extent) = (0, 0);
        // SAFETY: as in `contiguous`.
        let code =
            unsafe { (self.library.functions.type_extent)(self.handle, &raw mut lower, &raw mut extent) };
        self.library.check("MPI_Type_get_extent", code).map(|()| Bounds { lower, extent })
    }

    /// `MPI_Type_get_true_extent`: of the bytes themselves.
    ///
    /// # Errors
    /// MPI's.
    pub fn true_bounds(&self) -> Result<Bounds, MpiError> {
        let (mut lower, mut extent) = (0, 0);
        // SAFETY: as in `contiguous`.
        let code = unsafe {
            (self.library.functions.type_true_extent)(self.handle, &raw mut lower, &raw mut extent)
        };
        self.library.check("MPI_Type_get_true_extent", code).map(|()| Bounds { lower, extent })
    }

    fn number_of(&self, order: Order) -> c_int {
        let arrays = self.library.abi().arrays();
        match order {
            Order::C => arrays.order_c,
            Order::Fortran => arrays.order_fortran,
        }
    }
}

pub(crate) fn count_of<T>(list: &[T]) -> c_int {
    c_int::try_from(list.len()).unwrap_or_else(|_| panic!("{} entries at once", list.len()))
}
