//! Faults of MPIs: where an MPI is known to see a datatype otherwise than the standard or than other MPIs do.
//!
//! Those of sizes and bounds cover one constructor, applied to parts on which both agree: parts are compared before what is built
//! of them.

use crate::oracle::Type;
use crate::parts::{parts, raw};
use chare_layout::Distribution;
use chare_mpi_sys::Abi;

struct Fault {
    /// Whose it is; `None`: of all, each in its own way.
    of: Option<Abi>,
    what: &'static str,
    /// Whether what the type makes of its parts suffers from it.
    covers: fn(&Type) -> bool,
}

/// What cannot be tried.
const CRASHES: &[Fault] = &[Fault {
    of: Some(Abi::Mpich),
    what: "MPICH divides by zero when it packs blocks of length 0 of what has gaps",
    covers: has_empty_blocks_of_gaps,
}];

/// What has other sizes or bounds.
const DIFFERENCES: &[Fault] = &[
    Fault {
        of: Some(Abi::OpenMpi),
        what: "Open MPI makes no arrays without elements",
        covers: is_array_of_nothing,
    },
    Fault {
        of: None,
        what: "each MPI bounds datatypes without bytes, and what is built of them, in its own way",
        covers: has_parts_without_bytes,
    },
    Fault {
        of: Some(Abi::OpenMpi),
        what: "Open MPI bounds a struct by those of its fields alone whose bounds were said (MPI_Type_create_resized and arrays)",
        covers: has_fields_with_said_bounds_and_without,
    },
    Fault {
        of: Some(Abi::OpenMpi),
        what: "Open MPI takes a stride of -1 byte for none, when it computes bounds",
        covers: has_stride_of_minus_one,
    },
    Fault {
        of: Some(Abi::Mpich),
        what: "MPICH's true bounds of a share of less than one cyclic block have the block's start",
        covers: has_less_than_a_block,
    },
];

/// What packs other bytes; each covers a whole nest.
const STREAMS: &[Fault] = &[Fault {
    of: Some(Abi::Mpich),
    what: "MPICH repeats a row of elements of negative extent as if the row had no bounds of its own",
    covers: has_elements_of_negative_extent,
}];

/// The known reason why an MPI of this ABI would crash of this type, if there is one.
pub(crate) fn crash(abi: Abi, of: &Type) -> Option<&'static str> {
    find(CRASHES, abi, of)
}

/// The known reason why an MPI of this ABI sees this type otherwise, if there is one.
pub(crate) fn difference(abi: Abi, of: &Type) -> Option<&'static str> {
    find(DIFFERENCES, abi, of)
}

/// The known reason why an MPI of this ABI packs other bytes of this type, if there is one.
pub(crate) fn stream(abi: Abi, of: &Type) -> Option<&'static str> {
    find(STREAMS, abi, of)
}

fn find(faults: &[Fault], abi: Abi, of: &Type) -> Option<&'static str> {
    let mut its_own = faults.iter().filter(|fault| fault.of.is_none_or(|whose| whose == abi));
    its_own.find(|fault| (fault.covers)(of)).map(|fault| fault.what)
}

fn has_empty_blocks_of_gaps(of: &Type) -> bool {
    match of {
        Type::Vector(_, 0, _, inner)
        | Type::Hvector(_, 0, _, inner)
        | Type::IndexedBlock(0, _, inner)
        | Type::HindexedBlock(0, _, inner) => raw(inner).run_count() > 1,
        _ => false,
    }
}

fn has_elements_of_negative_extent(of: &Type) -> bool {
    parts(of).into_iter().any(|part| raw(part).extent() < 0 || has_elements_of_negative_extent(part))
}

fn is_array_of_nothing(of: &Type) -> bool {
    match of {
        Type::Subarray(dims, ..) => dims.iter().any(|dim| dim.1 == 0),
        Type::Darray(dims, ..) => dims.iter().any(|dim| dim.size == 0),
        _ => false,
    }
}

fn has_parts_without_bytes(of: &Type) -> bool {
    raw(of).bytes() == 0 || parts(of).into_iter().any(|part| raw(part).bytes() == 0)
}

fn has_fields_with_said_bounds_and_without(of: &Type) -> bool {
    let fields = parts(of);
    matches!(of, Type::Structure(..) | Type::Then(..))
        && fields.iter().any(|field| may_say_bounds(field))
        && !fields.iter().all(|field| says_bounds(field))
}

/// Whether somebody said bounds within it, be it of nothing.
fn may_say_bounds(of: &Type) -> bool {
    is_saying_bounds(of) || parts(of).into_iter().any(may_say_bounds)
}

/// Whether bounds are said of bytes that are there.
fn says_bounds(of: &Type) -> bool {
    raw(of).bytes() > 0
        && match of {
            Type::Structure(fields) => fields.iter().any(|field| field.0 > 0 && says_bounds(&field.2)),
            _ => is_saying_bounds(of) || parts(of).into_iter().any(says_bounds),
        }
}

fn is_saying_bounds(of: &Type) -> bool {
    matches!(of, Type::Resized(..) | Type::Of(..) | Type::Subarray(..) | Type::Darray(..))
}

fn has_stride_of_minus_one(of: &Type) -> bool {
    match of {
        Type::Vector(_, _, stride, inner) => stride * raw(inner).extent() == -1,
        Type::Hvector(_, _, stride, _) => *stride == -1,
        _ => false,
    }
}

fn has_less_than_a_block(of: &Type) -> bool {
    let Type::Darray(dims, ..) = of else { return false };
    dims.iter().any(|dim| match dim.distribution {
        Distribution::Cyclic(block) => dim.size < (dim.process + 1) * block,
        Distribution::Block | Distribution::None => false,
    })
}
