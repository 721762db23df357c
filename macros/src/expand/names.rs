//! Names of the proxy types, made of the chare's name.

use crate::ast::{Chare, Kind};
use quote::format_ident;
use syn::Ident;

/// The proxy of the collection, or of the single chare.
pub(super) fn whole_name(chare: &Chare) -> Ident {
    format_ident!("{}Proxy", chare.name)
}

/// The proxy of one chare.
pub(super) fn element_name(chare: &Chare) -> Ident {
    match chare.kind {
        Kind::Singleton => whole_name(chare),
        Kind::Array | Kind::Group | Kind::NodeGroup => format_ident!("{}ElementProxy", chare.name),
    }
}

/// The proxy of a section.
pub(super) fn section_name(chare: &Chare) -> Ident {
    format_ident!("{}SectionProxy", chare.name)
}
