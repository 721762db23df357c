//! Registration: the items that make the chare known to the runtime, its table of entries, and the text of its signatures.

use crate::ast::{Chare, Entry, Parameter, Parameters, Passing};
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote};

/// Adds the chare's type to those that the runtime finds at start.
pub(super) fn registration(chare: &Chare) -> TokenStream {
    let path = &chare.path;
    if chare.is_generic() {
        // `chare::instantiate!` registers those.
        return TokenStream::new();
    }
    quote! {
        ::chare::macro_support::inventory::submit! {
            ::chare::macro_support::ChareRegistration::of::<#path>()
        }
    }
}

/// The registrations of the entries, in source order.
pub(super) fn entries(chare: &Chare) -> TokenStream {
    let entries = chare.entries.iter().map(|Entry { marker, conditions, options, .. }| {
        let of = if options.aggregate.is_some() {
            quote!(aggregated_entry)
        } else {
            quote!(EntryRegistration::of)
        };
        quote!(#(#conditions)* ::chare::macro_support::#of::<#marker>())
    });
    quote!(&[#(#entries),*])
}

/// The place of an entry behind these ones in the table; the conditional ones among them are counted by the compiler.
pub(super) fn index_behind(entries: &[Entry]) -> TokenStream {
    let (always, conditional): (Vec<&Entry>, Vec<&Entry>) =
        entries.iter().partition(|entry| entry.conditions.is_empty());
    let always = Literal::usize_unsuffixed(always.len());
    if conditional.is_empty() {
        return always.into_token_stream();
    }
    let conditional = conditional.iter().map(|Entry { conditions, .. }| quote!(#(#conditions)* ()));
    quote!(#always + <[()]>::len(&[#(#conditional),*]) as u16)
}

/// The parameters as text. Nodes compare it at start: programs that read messages differently are different programs.
pub(super) fn signature(parameters: &Parameters) -> String {
    let texts = parameters.list.iter().map(|Parameter { ty, passing, .. }| {
        let mark = match passing {
            Passing::Regular | Passing::Reply => "",
            Passing::Received => "#[nocopy] ",
            Passing::Posted => "#[nocopy(post)] ",
        };
        format!("{mark}{}", ty.to_token_stream())
    });
    texts.collect::<Vec<_>>().join(", ")
}
