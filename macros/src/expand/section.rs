//! Section proxies: their methods, and the method of a collection's proxy that forms a section.

use super::calls::{SOME, borrow, calls, common};
use super::names::{element_name, section_name, whole_name};
use crate::ast::{Chare, Kind};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

/// The methods of a section's proxy, and the method of a collection's proxy that forms a section.
pub(super) fn implementation(chare: &Chare) -> TokenStream {
    let support = quote!(::chare::macro_support);
    let visibility = &chare.constructor.visibility;
    let (whole, section) = (whole_name(chare), section_name(chare));
    let element = chare.with_arguments(&element_name(chare));
    let section_type = chare.with_arguments(&section);
    let bounds = chare.bounds();
    let (parameters, arguments, bounds) = bounds.split_for_impl();
    let index = &chare.index;
    let (form, named_by, whom) = match chare.kind {
        Kind::Singleton => return TokenStream::new(),
        Kind::Array => (
            "section",
            quote!(#index),
            "elements with these indices: a list, a range, what a filter leaves of one (see [`chare::indices`])",
        ),
        Kind::Group => {
            ("section_on", quote!(impl ::core::convert::Into<::chare::PeId>), "elements on these PEs")
        }
        Kind::NodeGroup => (
            "section_on_nodes",
            quote!(impl ::core::convert::Into<::chare::NodeId>),
            "elements on these nodes",
        ),
    };
    let form = format_ident!("{form}");
    let of_whom = format!(
        "Forms a section of the {whom}. Who is listed twice counts once. One message to each PE that is home to one of them."
    );
    let calls_of_some = chare.entries.iter().map(|entry| calls(entry, &SOME));
    let common_of_some = common(chare, &section, "SectionHandle");
    let borrow = borrow(chare, &section, "SectionHandle");
    let members = quote! {
        impl ::core::iter::IntoIterator<Item = impl ::core::borrow::Borrow<#element>>
    };
    let handles = quote! {
        ::core::iter::Iterator::map(
            ::core::iter::IntoIterator::into_iter(members),
            |member| ::core::clone::Clone::clone(&::core::borrow::Borrow::<#element>::borrow(&member).0)
        )
    };
    quote! {
        impl #parameters #whole #arguments #bounds {
            #[doc = #of_whom]
            ///
            /// The caller's PE is the root of the section's tree: calls are cheapest from there. An element that is to be inserted
            /// later belongs to the section from then on: calls and reductions wait for it. One that is destroyed belongs to it no
            /// more, nor does one that is inserted with its index later. That there cannot be such an element ends the job with
            /// an error that names it.
            #visibility fn section(
                &self,
                members: impl ::core::iter::IntoIterator<Item = #named_by>
            ) -> #section_type {
                #section(self.0.#form(members))
            }
        }

        impl #parameters #section #arguments #bounds {
            /// Forms a section of these elements, which may belong to several collections.
            #visibility fn of(members: #members) -> Self {
                Self(#support::SectionHandle::form(#handles))
            }

            /// Forms a section of elements that belong to this one. That one of them does not ends the job with an error that
            /// names it.
            #visibility fn section(&self, members: #members) -> Self {
                Self(self.0.section(#handles))
            }

            /// Calls back when the section is formed: when every PE that is home to an element has given the element its place.
            /// Nothing else has to wait for that; elements that are still to be inserted are not awaited. Two messages for each
            /// such PE.
            #visibility fn formed(&self, callback: ::chare::Callback<()>) {
                self.0.formed(callback);
            }

            /// Ends the section; its elements stay. Calls that were made here before are heard; contributions must be over. One
            /// message to each PE that is home to an element.
            #visibility fn dissolve(&self) {
                self.0.dissolve();
            }

            #(#calls_of_some)*
        }
        #common_of_some
        #borrow
    }
}
