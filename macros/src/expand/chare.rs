//! The traits of the chare's own type.
//!
//! The constructor's trait is the chare's too: a marker type of its own would have to be exactly as visible as the chare,
//! and an impl block does not say how visible that is.

use super::{argument_places, arguments_pattern, arguments_type, proxy, register};
use crate::ast::{Chare, Kind};
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;

pub(super) fn implementation(chare: &Chare) -> TokenStream {
    let support = quote!(::chare::macro_support);
    let Chare { path, constructor, index, .. } = chare;
    let name = format!("::{}", chare.name);
    let kind = kind(chare.kind);
    let whole = proxy::whole_name(chare);
    let element = proxy::element_name(chare);
    let entries = register::entries(chare);
    let arguments = arguments_type(&constructor.parameters);
    let pattern = arguments_pattern(&constructor.parameters);
    let places = argument_places(&constructor.parameters);
    let signature = register::signature(&constructor.parameters);
    let method = &constructor.name;
    // A proxy less visible than its chare is an error of the compiler's; the constructor's visibility is what to change.
    let proxies = quote_spanned! {method.span()=>
        type Proxy = #whole;
        type Element = #element;
    };
    quote! {
        impl #support::Chare for #path {
            const NAME: &'static str = ::core::concat!(::core::module_path!(), #name);
            const ENTRIES: &'static [#support::EntryRegistration] = #entries;
            type Kind = #support::kind::#kind;
            type Index = #index;
            #proxies
            type Constructor = Self;
        }

        impl #support::Constructor for #path {
            type Chare = Self;
            type Arguments = #arguments;
            const SIGNATURE: &'static str = #signature;

            fn construct(#pattern: Self::Arguments) -> Self {
                Self::#method(#(#places),*)
            }
        }
    }
}

fn kind(kind: Kind) -> Ident {
    format_ident!(
        "{}",
        match kind {
            Kind::Singleton => "Singleton",
            Kind::Array => "Array",
            Kind::Group => "Group",
            Kind::NodeGroup => "NodeGroup",
        }
    )
}
