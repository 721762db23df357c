//! Derived datatypes of kernels: the trees of their constructors, told to an MPI.

#![expect(unsafe_code, reason = "begins nests in an MPI")]

use chare_examples::ddtbench::{Precision, Tree};
use chare_mpi_sys::{Basic, Bounds, Datatype, Library, MpiError, Order};
use std::ffi::c_int;

/// The datatype of a tree of elements of this precision.
pub(super) fn datatype(
    library: &'static Library,
    tree: &Tree,
    precision: Precision,
) -> Result<Datatype, MpiError> {
    let inner = |of: &Tree| datatype(library, of, precision);
    let basic = match precision {
        Precision::Single => Basic::Float,
        Precision::Double => Basic::Double,
    };
    match tree {
        // SAFETY: sides of an MPI make datatypes where they have started it, on that thread, and end it when all are gone.
        Tree::Element => unsafe { Datatype::of(library, basic, 1) },
        Tree::Contiguous { count, of } => inner(of)?.contiguous(int(*count)),
        Tree::Vector { count, len, stride, of } => inner(of)?.vector(int(*count), int(*len), int(*stride)),
        Tree::Hvector { count, len, stride_bytes, of } => {
            inner(of)?.hvector(int(*count), int(*len), *stride_bytes as isize)
        }
        Tree::IndexedBlock { len, places, of } => {
            let places: Vec<c_int> = places.iter().map(|place| int(*place)).collect();
            inner(of)?.indexed_block(int(*len), &places)
        }
        Tree::Subarray { dims, of } => {
            let dims: Vec<_> =
                dims.iter().map(|(size, len, start)| (int(*size), int(*len), int(*start))).collect();
            inner(of)?.subarray(&dims, Order::C)
        }
        Tree::Resized { extent_bytes, of } => {
            inner(of)?.resized(Bounds { lower: 0, extent: *extent_bytes as isize })
        }
    }
}

fn int(number: impl TryInto<c_int>) -> c_int {
    number.try_into().unwrap_or_else(|_| panic!("kernels' numbers are an MPI's"))
}
