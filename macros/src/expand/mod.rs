//! Writes the code of a sound chare: proxies that callers name, and everything else inside one anonymous constant.
//!
//! 1. Generated code decides nothing: it names types and calls `::chare::macro_support`.
//! 2. It reaches everything through absolute paths, and names nothing that a user's type could be called. Marker types
//!    start with two underscores; the only generated parameter names beside the user's own are hygienic.
//! 3. What is generated for a conditional method repeats its condition.

mod awaited;
mod chare;
mod create;
mod entry;
mod entry_trait;
mod members;
mod proxy;
mod register;
mod section;

use crate::ast::{Chare, Entry, Kind, Parameter, Parameters, Passing};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Ident, Index};

pub(crate) use entry_trait::expand_trait;

/// All that `#[chare]` adds beside the block.
pub(crate) fn expand(chare: &Chare) -> TokenStream {
    let Chare { conditions, .. } = chare;
    let declarations = proxy::declarations(chare);
    let implementation = chare::implementation(chare);
    let registration = register::registration(chare);
    let entries = chare.entries.iter().enumerate().map(|(index, _)| entry::marker(chare, index));
    let awaited = awaited::declarations(chare);
    let proxies = proxy::implementations(chare);
    let hidden = hide(
        conditions,
        &quote! {
            #implementation
            #registration
            #(#entries)*
            #awaited
            #proxies
        },
    );
    quote!(#declarations #hidden)
}

/// Code that nobody names, in an anonymous constant.
fn hide(conditions: &[Attribute], code: &TokenStream) -> TokenStream {
    quote! {
        #(#conditions)*
        #[allow(
            non_camel_case_types,
            reason = "a marker type is named after its method"
        )]
        #[allow(
            dead_code,
            reason = "a program need not call everything that a proxy offers"
        )]
        #[allow(
            deprecated,
            reason = "a deprecated entry is warned of where its proxy is called"
        )]
        #[allow(
            clippy::too_many_arguments,
            reason = "a proxy's method has the parameters of its entry"
        )]
        #[allow(
            private_bounds,
            private_interfaces,
            reason = "a proxy may be more visible than its chare and its entries' arguments"
        )]
        const _: () = { #code };
    }
}

/// The marker type of an entry.
fn declare_marker(chare: &Chare, entry: &Entry) -> TokenStream {
    let (Chare { path, .. }, Entry { marker, conditions, .. }) = (chare, entry);
    let name = marker.segments.last().map(|last| &last.ident);
    if !chare.is_generic() {
        return quote!(#(#conditions)* struct #name;);
    }
    let (parameters, _, bounds) = chare.generics.split_for_impl();
    quote!(#(#conditions)* struct #name #parameters (::core::marker::PhantomData<fn() -> #path>) #bounds;)
}

/// The proxy of the collection, or of the single chare.
fn whole_name(chare: &Chare) -> Ident {
    format_ident!("{}Proxy", chare.name)
}

/// The proxy of one chare.
fn element_name(chare: &Chare) -> Ident {
    match chare.kind {
        Kind::Singleton => whole_name(chare),
        Kind::Array | Kind::Group | Kind::NodeGroup => format_ident!("{}ElementProxy", chare.name),
    }
}

/// The type of a message's arguments: `()`, `T`, or a tuple.
fn arguments_type(parameters: &Parameters) -> TokenStream {
    type_of(parameters.in_message(), parameters.span)
}

/// The type that holds all of them: `()`, `T`, or a tuple.
fn type_of<'a>(parameters: impl Iterator<Item = &'a Parameter>, span: Span) -> TokenStream {
    let types: Vec<_> = parameters.map(|parameter| &parameter.ty).collect();
    match &*types {
        [single] => quote!(#single),
        types => quote_spanned!(span=> (#(#types),*)),
    }
}

/// A message's arguments, made of the parameters of a proxy's method.
fn arguments_value(parameters: &Parameters) -> TokenStream {
    let names: Vec<_> = parameters.in_message().map(|parameter| &parameter.name).collect();
    match &*names {
        [single] => quote!(#single),
        names => quote!((#(#names),*)),
    }
}

/// Each regular argument as an expression on `arguments`.
fn argument_places(parameters: &Parameters) -> Vec<TokenStream> {
    match parameters.in_message().count() {
        1 => vec![quote!(arguments)],
        count => (0..count).map(Index::from).map(|index| quote!(arguments.#index)).collect(),
    }
}

/// The pattern that binds a message's arguments: nothing is bound where there are none.
fn arguments_pattern(parameters: &Parameters) -> TokenStream {
    if parameters.in_message().next().is_some() { quote!(arguments) } else { quote!(_) }
}

/// The parameters of a proxy's method.
fn declared(parameters: &Parameters) -> TokenStream {
    let support = quote!(::chare::macro_support);
    let declared = parameters.list.iter().filter_map(|Parameter { name, ty, passing, .. }| match passing {
        Passing::Regular => Some(quote!(#name: #ty)),
        Passing::Reply => None,
        // An element type that is no plain data is an error there.
        Passing::Received | Passing::Posted => Some(quote_spanned! {ty.span()=>
            #name: impl ::core::convert::Into<#support::SendBuffer<<#ty as #support::NocopyParameter>::Element>>
        }),
    });
    quote!(#(#declared),*)
}

#[cfg(test)]
mod tests;
