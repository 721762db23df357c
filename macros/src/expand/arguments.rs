//! Arguments of a message: their type, their value in a proxy's method, their pattern and places in an entry.

use crate::ast::{Parameter, Parameters, Passing};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Index;
use syn::spanned::Spanned;

/// The type of a message's arguments: `()`, `T`, or a tuple.
pub(super) fn arguments_type(parameters: &Parameters) -> TokenStream {
    type_of(parameters.in_message(), parameters.span)
}

/// The type that holds all these parameters: `()`, `T`, or a tuple.
pub(super) fn type_of<'a>(parameters: impl Iterator<Item = &'a Parameter>, span: Span) -> TokenStream {
    let types: Vec<_> = parameters.map(|parameter| &parameter.ty).collect();
    match &*types {
        [single] => quote!(#single),
        types => quote_spanned!(span=> (#(#types),*)),
    }
}

/// A message's arguments, made of the parameters of a proxy's method.
pub(super) fn arguments_value(parameters: &Parameters) -> TokenStream {
    let names: Vec<_> = parameters.in_message().map(|parameter| &parameter.name).collect();
    match &*names {
        [single] => quote!(#single),
        names => quote!((#(#names),*)),
    }
}

/// Each regular argument as an expression on `arguments`.
pub(super) fn argument_places(parameters: &Parameters) -> Vec<TokenStream> {
    match parameters.in_message().count() {
        1 => vec![quote!(arguments)],
        count => (0..count).map(Index::from).map(|index| quote!(arguments.#index)).collect(),
    }
}

/// The pattern that binds a message's arguments: nothing is bound where there are none.
pub(super) fn arguments_pattern(parameters: &Parameters) -> TokenStream {
    if parameters.in_message().next().is_some() { quote!(arguments) } else { quote!(_) }
}

/// The parameters of a proxy's method.
pub(super) fn declared(parameters: &Parameters) -> TokenStream {
    let declared = parameters.list.iter().filter_map(|Parameter { name, ty, passing, .. }| match passing {
        Passing::Regular => Some(quote!(#name: #ty)),
        Passing::Reply => None,
        // An element type that is no plain data is an error there.
        Passing::Received | Passing::Posted => Some(quote_spanned! {ty.span()=>
            #name: impl ::chare::macro_support::NocopyArgument<<#ty as ::chare::macro_support::NocopyParameter>::Element>
        }),
    });
    quote!(#(#declared),*)
}
