//! Hints: methods that proxies have for the compiler's sake alone, where it would know no more than that there is none of the name.
//!
//! 1. A call of a method that is no entry, and a call of all members that asks for an answer, is refused by a bound that nothing
//!    satisfies, whose sentence stands in `macro_support`.
//! 2. A call of an entry that has an error of its own passes: its error has been reported where it stands.

use crate::ast::{Chare, Entry, Hint, Passing, Why};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Attribute, Ident, Visibility};

/// Those of the proxy of one chare.
pub(super) fn of_one(chare: &Chare) -> TokenStream {
    let hints = chare.hints.iter().map(|hint| match &hint.why {
        Why::NoEntry => no_entry(hint),
        Why::Unsound { result: None } => anything(hint, &TokenStream::new()),
        Why::Unsound { result: Some(result) } => anything(hint, &quote!(-> ::core::future::Pending<#result>)),
    });
    quote!(#(#hints)*)
}

/// Those of the proxy of a collection.
pub(super) fn of_all(chare: &Chare) -> TokenStream {
    let no_entries = chare.hints.iter().filter(|hint| matches!(hint.why, Why::NoEntry)).map(no_entry);
    let of_some = of_some(chare);
    quote!(#(#no_entries)* #of_some)
}

/// Those of the proxy of a section.
pub(super) fn of_some(chare: &Chare) -> TokenStream {
    let unsound = chare.hints.iter().filter(|hint| matches!(hint.why, Why::Unsound { result: None }));
    let unsound = unsound.map(|hint| anything(hint, &TokenStream::new()));
    let answers = chare.entries.iter().filter(|entry| entry.result.is_some()).map(answer);
    quote!(#(#unsound)* #(#answers)*)
}

fn no_entry(hint: &Hint) -> TokenStream {
    refused(&hint.name, &hint.visibility, &hint.conditions, hint.parameters, "MarkedEntry")
}

fn answer(entry: &Entry) -> TokenStream {
    let Entry { name, visibility, conditions, parameters, .. } = entry;
    let given = parameters.list.iter().filter(|parameter| parameter.passing != Passing::Reply).count();
    refused(name, visibility, conditions, given, "AnsweredByAll")
}

/// A method that any caller may await, refused by a bound of this name.
fn refused(
    name: &Ident,
    visibility: &Visibility,
    conditions: &[Attribute],
    parameters: usize,
    bound: &str,
) -> TokenStream {
    let bound = format_ident!("{bound}");
    // Not known to be false before somebody calls: the compiler would refuse the method itself.
    let bound = quote!(where for<'__a> &'__a (): ::chare::macro_support::#bound);
    let (types, span) = (types(parameters), span(name));
    quote_spanned! {span=>
        #(#conditions)*
        #[doc(hidden)]
        #visibility fn #name<__R #(, #types)*>(&self, #(_: #types),*) -> ::core::future::Pending<__R> #bound {
            ::core::unreachable!()
        }
    }
}

/// A method that takes anything.
fn anything(hint: &Hint, output: &TokenStream) -> TokenStream {
    let Hint { name, visibility, conditions, parameters, .. } = hint;
    let (types, span) = (types(*parameters), span(name));
    quote_spanned! {span=>
        #(#conditions)*
        #[doc(hidden)]
        #visibility fn #name<#(#types),*>(&self, #(_: #types),*) #output {
            ::core::unreachable!()
        }
    }
}

fn types(parameters: usize) -> Vec<Ident> {
    (0..parameters).map(|position| format_ident!("__T{position}")).collect()
}

/// What the compiler says about the method, it says at the chare's own.
fn span(name: &Ident) -> Span {
    name.span().resolved_at(Span::call_site())
}
