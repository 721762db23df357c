//! Parts of nests: what each constructor is applied to, and how a comparison of one ends.

use crate::oracle::Type;
use chare_layout::Raw;

/// Why a nest was not compared to its end.
pub(crate) enum Stop {
    /// The MPI is known to see it otherwise, for this reason.
    Excused(&'static str),
    /// How it sees it otherwise.
    Differs(String),
}

impl Stop {
    /// A difference, which a known fault may excuse.
    pub(crate) fn at(fault: Option<&'static str>, how: String) -> Self {
        fault.map_or(Self::Differs(how), Self::Excused)
    }
}

/// The inner types of one type.
pub(crate) fn parts(of: &Type) -> Vec<&Type> {
    match of {
        Type::Bytes(_) => Vec::new(),
        Type::Structure(fields) => fields.iter().map(|field| &field.2).collect(),
        Type::Then(first, second) => vec![first, second],
        Type::Contiguous(_, inner)
        | Type::Vector(_, _, _, inner)
        | Type::Hvector(_, _, _, inner)
        | Type::Indexed(_, inner)
        | Type::Hindexed(_, inner)
        | Type::IndexedBlock(_, _, inner)
        | Type::HindexedBlock(_, _, inner)
        | Type::Subarray(_, _, inner)
        | Type::Darray(_, _, inner)
        | Type::Resized(_, _, inner)
        | Type::Shifted(_, inner)
        | Type::Of(_, _, inner) => vec![inner],
    }
}

/// What `chare-layout` makes of a type.
pub(crate) fn raw(of: &Type) -> Raw {
    of.raw().expect("types of tests are small")
}
