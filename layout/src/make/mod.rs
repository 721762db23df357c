//! Construction of layouts: MPI's constructors, its datatypes, distributed arrays, selections of arrays, layouts in elements, partitions, and views of
//! `ndarray`.

pub(crate) mod arrays;
mod constructors;
pub(crate) mod datatype;
pub(crate) mod dims;
mod inner;
pub(crate) mod layout;
#[cfg(feature = "ndarray")]
mod ndarray;
pub(crate) mod partition;
mod sequence;
