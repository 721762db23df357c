//! Proxy types, and the methods of those of one chare and of a whole collection.
//!
//! A collection has three proxy types: of the whole, of an element, of a section; a single chare has one.

use super::calls::{ALL, ONE, borrow, calls, common};
use super::create::create;
use super::members::{member, members};
use super::names::{element_name, section_name, whole_name};
use crate::ast::{Chare, Constructor, Kind, LocalEntry};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::Ident;
use syn::ext::IdentExt;

/// The proxy types.
pub(super) fn declarations(chare: &Chare) -> TokenStream {
    let name = &chare.name;
    let element = declaration(
        chare,
        &element_name(chare),
        "ElementHandle",
        &match chare.kind {
            Kind::Singleton => format!("Reaches a `{name}`, wherever it is: each method sends it a message."),
            _ => format!(
                "Reaches one `{name}` of a collection, wherever it is: each method sends it a message."
            ),
        },
    );
    let whole = match chare.kind {
        Kind::Singleton => return element,
        Kind::Array => "an array",
        Kind::Group => "a group, one on each PE",
        Kind::NodeGroup => "a nodegroup, one on each node",
    };
    let whole = declaration(
        chare,
        &whole_name(chare),
        "CollectionHandle",
        &format!("Reaches every `{name}` of {whole}: each method sends a message to all of them."),
    );
    let section = declaration(
        chare,
        &section_name(chare),
        "SectionHandle",
        &format!(
            "Reaches some `{name}`, of one collection or several: each method sends a message to all of them."
        ),
    );
    quote!(#whole #element #section)
}

fn declaration(chare: &Chare, proxy: &Ident, handle: &str, summary: &str) -> TokenStream {
    let support = quote!(::chare::macro_support);
    let Chare { path, conditions, constructor: Constructor { visibility, .. }, .. } = chare;
    let handle = format_ident!("{handle}");
    let (parameters, _, bounds) = chare.generics.split_for_impl();
    quote! {
        #(#conditions)*
        #[doc = #summary]
        ///
        /// Cheap to clone, and can itself be an argument. Two are equal if they reach the same.
        #[derive(#support::serde::Serialize, #support::serde::Deserialize)]
        #[serde(crate = "::chare::macro_support::serde", bound = "")]
        #visibility struct #proxy #parameters (#support::#handle<#path>) #bounds;
    }
}

/// The methods of the proxies of an element and of the whole, and how they are made of handles.
pub(super) fn implementations(chare: &Chare) -> TokenStream {
    let element = element_name(chare);
    let calls_of_one = chare.entries.iter().map(|entry| calls(entry, &ONE));
    let local_calls = chare.locals.iter().map(|entry| local_call(chare, entry));
    let create = create(chare);
    let common_of_one = common(chare, &element, "ElementHandle");
    let bounds = chare.bounds();
    let (parameters, arguments, bounds) = bounds.split_for_impl();
    let borrow_of_one = borrow(chare, &element, "ElementHandle");
    if chare.kind == Kind::Singleton {
        return quote! {
            impl #parameters #element #arguments #bounds { #create #(#calls_of_one)* #(#local_calls)* }
            #common_of_one
            #borrow_of_one
        };
    }
    let whole = whole_name(chare);
    let (members, member, borrow) =
        (members(chare), member(chare), borrow(chare, &whole, "CollectionHandle"));
    let calls_of_all = chare.entries.iter().map(|entry| calls(entry, &ALL));
    let common_of_all = common(chare, &whole, "CollectionHandle");
    quote! {
        impl #parameters #whole #arguments #bounds { #create #members #(#calls_of_all)* }
        #common_of_all
        #borrow
        impl #parameters #element #arguments #bounds { #member #(#calls_of_one)* #(#local_calls)* }
        #common_of_one
        #borrow_of_one
    }
}

/// The method that calls a local entry.
fn local_call(chare: &Chare, entry: &LocalEntry) -> TokenStream {
    let path = &chare.path;
    let LocalEntry { visibility, docs, conditions, signature, arguments } = entry;
    let name = &signature.ident;
    let text = name.unraw().to_string();
    let summary = format!("Calls `{text}` of this chare like a function.");
    // The user's own parameters may have this name.
    let this = Ident::new("chare", Span::mixed_site());
    quote! {
        #(#conditions)*
        #(#docs)*
        #[doc = ""]
        #[doc = #summary]
        ///
        /// # Panics
        /// If the chare does not live on this PE, or its state is borrowed already: by the entry or the closure that is under way.
        #[track_caller]
        #visibility #signature {
            self.0.call_local(#text, |#this| <#path>::#name(#this, #(#arguments),*))
        }
    }
}
