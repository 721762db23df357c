//! Trait implementations of the chare's own type: `Chare` and `Constructor`.
//!
//! The constructor's trait is the chare's too: a marker type of its own would have to be exactly as visible as the chare,
//! and an impl block does not say how visible that is.

use super::arguments::{argument_places, arguments_pattern, arguments_type};
use super::names::{element_name, whole_name};
use super::{awaited, register};
use crate::ast::{Chare, Kind, OnPanic};
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;

pub(super) fn implementation(chare: &Chare) -> TokenStream {
    let support = quote!(::chare::macro_support);
    let Chare { path, constructor, index, .. } = chare;
    let name = name(chare);
    let kind = kind(chare.kind);
    let on_panic = on_panic(chare.on_panic);
    let movement = chare.hooks.is_some().then(|| {
        quote! {
            const MOVEMENT: ::core::option::Option<&'static #support::Movement> =
                ::core::option::Option::Some(<Self as ::chare::Migrates>::OPERATIONS);
        }
    });
    let whole = chare.with_arguments(&whole_name(chare));
    let element = chare.with_arguments(&element_name(chare));
    let bounds = chare.bounds();
    let (parameters, _, bounds) = bounds.split_for_impl();
    let entries = register::entries(chare);
    let arguments = arguments_type(&constructor.parameters);
    let pattern = arguments_pattern(&constructor.parameters);
    let places = argument_places(&constructor.parameters);
    let signature = register::signature(&constructor.parameters);
    let method = &constructor.name;
    let awaited = awaited::type_of_calls(chare);
    // A proxy less visible than its chare is an error of the compiler's; the constructor's visibility is what to change.
    let proxies = quote_spanned! {method.span()=>
        type Proxy = #whole;
        type Element = #element;
    };
    // So is an argument less visible than its chare.
    let arguments = quote_spanned!(method.span()=> type Arguments = #arguments;);
    quote! {
        impl #parameters #support::Chare for #path #bounds {
            const NAME: &'static str = #name;
            const ENTRIES: &'static [#support::EntryRegistration] = #entries;
            #on_panic
            #movement
            type Kind = #support::kind::#kind;
            type Index = #index;
            type Awaited = #awaited;
            #proxies
            type Constructor = Self;
        }

        impl #parameters #support::Constructor for #path #bounds {
            type Chare = Self;
            #arguments
            const SIGNATURE: &'static str = #signature;

            fn construct(#pattern: Self::Arguments) -> Self {
                Self::#method(#(#places),*)
            }
        }
    }
}

/// The policy for panics, if it is not the one that the trait provides.
fn on_panic(policy: OnPanic) -> Option<TokenStream> {
    let policy = match policy {
        OnPanic::End => return None,
        OnPanic::Answer => quote!(Answer),
        OnPanic::Renew => quote!(Renew),
    };
    let support = quote!(::chare::macro_support);
    Some(quote! { const ON_PANIC: #support::OnPanic = #support::OnPanic::#policy; })
}

/// The full name of the type, as a constant.
fn name(chare: &Chare) -> TokenStream {
    let name = format!("::{}", chare.name);
    if chare.is_generic() {
        quote!(<Self as ::chare::Instantiated>::NAME)
    } else {
        quote!(::core::concat!(::core::module_path!(), #name))
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
